#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks the soak without an MPI: what it counts, how it continues after an interruption, the bounds of failure rates,
and what it keeps of runs that fail."""
import argparse
import collections
import contextlib
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import soak
import stacks
import workloads
from suite import job
from tally import Count, Key, Tally, highest_rate, order

KEYS = [Key(program, "openmpi-4", "abc", way) for program in ("one", "two") for way in ("off", "on")]


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "tally.csv"


class Tallies(InFolder):
    def test_every_run_is_in_the_file_at_once(self):
        tally = Tally(self.file)
        for failed in (False, True, False):
            tally.add(KEYS[0], failed)
            self.assertEqual(Tally(self.file).counts, tally.counts)
        self.assertEqual(tally.counts, {KEYS[0]: Count(3, 1)})

    def test_an_interrupted_write_leaves_the_file_as_it_was(self):
        tally = Tally(self.file)
        tally.add(KEYS[0], False)
        with mock.patch("os.replace", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            tally.add(KEYS[0], False)
        self.assertEqual(Tally(self.file).counts, {KEYS[0]: Count(1, 0)})

    def test_the_seed_is_kept(self):
        tally = Tally(self.file)
        tally.add(KEYS[0], False)
        self.assertEqual(Tally(self.file).seed("abc"), tally.seed("abc"))

    def test_sums_by_way_are_those_of_all_programs_and_commits(self):
        tally = Tally(self.file)
        tally.add(KEYS[0], False)
        tally.add(KEYS[2], True)
        tally.add(Key("one", "openmpi-4", "def", "off"), False)
        self.assertEqual(tally.by_way(), {"off": Count(3, 1)})


class Orders(InFolder):
    def test_each_turn_has_every_key_once(self):
        found = list(order(Tally(self.file), KEYS, 3))
        for turn in range(3):
            self.assertCountEqual(found[turn * 4:turn * 4 + 4], KEYS)

    def test_the_seed_determines_the_order(self):
        tally = Tally(self.file)
        self.assertEqual(list(order(tally, KEYS, 9)), list(order(tally, KEYS, 9)))
        tally.add(KEYS[0], False)
        first = list(order(tally, KEYS, 9))
        tally.seeds["abc"] += 1
        self.assertNotEqual(list(order(tally, KEYS, 9)), first)

    def test_ways_that_lag_behind_catch_up_first(self):
        tally = Tally(self.file)
        tally.counts = {KEYS[0]: Count(5, 0), KEYS[1]: Count(3, 0), KEYS[2]: Count(4, 0), KEYS[3]: Count(4, 0)}
        self.assertEqual(list(order(tally, KEYS, 0)), [KEYS[1]] * 2)


class Rates(unittest.TestCase):
    def test_bounds_are_those_of_clopper_and_pearson(self):
        for failures, runs, bound in ((0, 10, 0.25887), (1, 10, 0.39416), (5, 10, 0.77756), (10, 10, 1.0), (0, 0, 1.0)):
            self.assertAlmostEqual(highest_rate(Count(runs, failures)), bound, places=5)

    def test_without_failures_it_is_the_rule_of_three(self):
        self.assertAlmostEqual(highest_rate(Count(10000, 0)) * 10000, 3, places=2)


class Soaks(InFolder):
    """Runs of the soak in which a function takes the place of each job."""

    def setUp(self):
        super().setUp()
        (self.folder / "original").mkdir()
        self.done = []
        self.at = {}  # what happens in a run, by its number
        found = [workloads.Workload("one", ()), workloads.Workload("two", ())]
        for patch in (mock.patch("suite.present", lambda names: names), mock.patch("workloads.run", self.run_one),
                      mock.patch("workloads.workloads", lambda peer, work: found)):
            patch.start()
            self.addCleanup(patch.stop)
        for number in (signal.SIGINT, signal.SIGTERM):
            self.addCleanup(signal.signal, number, signal.getsignal(number))

    def run_one(self, _peer, workload, way, seed, _libraries, folder, _patience):
        self.done.append((workload.name, way, seed))
        folder.mkdir()
        (folder / "log").write_text("a log", encoding="utf-8")
        return workloads.Run(self.at.get(len(self.done), lambda: "")() or "", 1)

    def soak(self, runs):
        given = argparse.Namespace(work=self.folder, libraries=self.folder / "original", mpi=["openmpi-4"], runs=runs,
                                   programs=None, ways=["off", "on"], commit="abc", patience=9, priority="normal", beside=0)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = soak.run_all(given, Tally(self.file))
        return status, out.getvalue()

    def test_ends_after_the_present_run_and_continues_there(self):
        self.at[3] = lambda: os.kill(os.getpid(), signal.SIGINT)
        self.soak(5)
        self.assertEqual(len(self.done), 3)
        self.soak(1)
        runs = collections.Counter(done[:2] for done in self.done)
        self.assertEqual(len(self.done), sum(count.runs for count in Tally(self.file).counts.values()))
        self.assertEqual(runs["one", "off"], runs["one", "on"])
        self.assertEqual(runs["two", "off"], runs["two", "on"])

    def test_second_signal_abandons_the_run_without_counting_it(self):
        self.at[2] = lambda: [os.kill(os.getpid(), signal.SIGINT) for _ in range(2)]
        self.soak(5)
        self.assertEqual(len(self.done), 2)
        self.assertEqual(sum(count.runs for count in Tally(self.file).counts.values()), 1)

    def test_ways_have_the_same_seeds(self):
        self.soak(4)
        for program in ("one", "two"):
            seeds = {way: [seed for name, by, seed in self.done if (name, by) == (program, way)] for way in ("off", "on")}
            self.assertEqual(seeds["off"], seeds["on"])
            self.assertEqual(len(set(seeds["on"])), 4)

    def test_a_failure_is_counted_and_kept(self):
        self.at[1] = lambda: "died"
        _, out = self.soak(1)
        self.assertIn("died", out)
        self.assertEqual(sum(count.failures for count in Tally(self.file).counts.values()), 1)
        self.assertEqual([log.read_text() for log in self.folder.glob("failures/*/log")], ["a log"])

    def test_status_is_1_if_only_the_heap_fails_in_this_session(self):
        for number in range(1, 5):
            self.at[number] = lambda: "died" if self.done[-1][1] == "on" else ""
        self.assertEqual(self.soak(1)[0], 1)
        self.at.clear()
        self.assertEqual(self.soak(1)[0], 0)


class Jobs(InFolder):
    def test_a_job_that_takes_too_long_is_seen_before_it_is_ended(self):
        done = job.run(["sleep", "1000"], dict(os.environ), 0.01,
                       at_deadline=lambda mark: stacks.of_processes(job.members(mark), self.folder))
        self.assertFalse(done.in_time)
        [shown] = self.folder.glob("stacks-*")
        self.assertTrue(shown.read_text(encoding="utf-8").startswith("sleep 1000"))

    def test_an_abandoned_job_is_ended(self):
        marks = []

        def abandon(mark):
            marks.append(mark)
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            job.run(["sleep", "1000"], dict(os.environ), meanwhile=abandon)
        self.assertEqual(job.members(marks[0]), [])

    def test_build_ids_and_stacks_of_a_core_file_are_kept(self):
        if pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii")[0] in "|/":
            self.skipTest("core files do not go to the working folder")
        if shutil.which("gdb") is None:
            self.skipTest("gdb is not installed")
        died = subprocess.run(["prlimit", "--core=unlimited", sys.executable, "-c", "import os; os.abort()"],
                              cwd=self.folder, check=False)
        self.assertEqual(died.returncode, -signal.SIGABRT)
        stacks.of_cores(self.folder)
        [ids] = self.folder.glob("core*.build-ids")
        self.assertRegex(ids.read_text(encoding="utf-8"), r"(?m)^[0-9a-f]{40} .*/libc")
        [shown] = self.folder.glob("core*.stacks")
        self.assertIn("abort", shown.read_text(encoding="utf-8"))


class Inputs(InFolder):
    def test_inputs_of_the_benchmark_can_be_made_shorter(self):
        for name, _package, _program, _arguments, shorter, _expected in workloads.DEBIAN:
            with self.subTest(name):
                workloads.shortened(self.folder, *shorter)
        short = workloads.hpcc(None, self.folder) if shutil.which("hpcc") else None
        if short is not None:
            self.assertIn("\n200 N\n", (short.inputs / "hpccinf.txt").read_text(encoding="ascii"))

    def test_an_input_without_the_text_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "melt.lmp contains 'walk' 0 times"):
            workloads.shortened(self.folder, "melt.lmp", {"walk": "run"})


if __name__ == "__main__":
    unittest.main()
