#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests `huddle run` as its users run it, with real launchers, programs, signals and exit statuses.

The launchers in PATH are tested, and those in the folders in PEERS (separated by colons).
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from run_case import HUDDLE, PATIENCE_SECONDS, RunCase

REPOSITORY = pathlib.Path(__file__).parents[3]
RECORDED = REPOSITORY / "tests/model/machine/topologies"
# Measurements on the recorded machine guest-2-cores: large messages are faster with the heap.
CALIBRATED = REPOSITORY / "machines/amd-epyc-2c-1b1d3050.toml"


def launchers():
    """Returns every installed launcher, each file once."""
    found = {}
    names = ("mpirun", "mpirun.openmpi", "mpirun.mpich", "mpiexec")
    folders = [f"{peer}/bin" for peer in os.environ.get("PEERS", "").split(":") if peer]
    for name in names:
        for folder in [None] + folders:
            path = shutil.which(name, path=folder)
            if path:
                found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())


class Run(RunCase):
    def libraries_by_process(self, *command):
        """Returns the names of the libraries that each process of the command loads."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                                  timeout=PATIENCE_SECONDS, cwd=self.folder,
                                  env=self.environment(LD_DEBUG="libs", LD_DEBUG_OUTPUT=f"{folder}/process"))
            self.assertEqual(done.returncode, 0, done.stderr)
            logs = [log.read_text(encoding="utf-8") for log in pathlib.Path(folder).iterdir()]
        return [{pathlib.Path(path).name.partition(".so")[0]
                 for path in re.findall(r"calling init: (\S+)", log)} for log in logs]

    def libraries_of_dry_run(self, *words):
        return self.libraries_by_process(self.folder / "bin/huddle", "run", "--dry-run", *words)

    # The time that huddle takes before it becomes the command consists of these two counts.

    def test_no_process_runs_before_debians_launchers(self):
        for launcher in filter(shutil.which, ("mpirun.openmpi", "mpirun.mpich")):
            with self.subTest(launcher):
                self.assertEqual(len(self.libraries_of_dry_run(launcher, "-n", 2, "./show")), 1)

    def test_huddle_loads_no_libraries_that_it_can_contain(self):
        loaded, = self.libraries_of_dry_run("./show")
        if any("san" in name for name in loaded):
            self.skipTest("the runtime of a sanitizer loads libraries")
        # libelf and libz belong to libbpf. Without libhwloc.a, huddle loads libhwloc and libudev.
        allowed = {"libm", "libbpf", "libelf", "libz"}
        if "libhwloc" in loaded:
            allowed |= {"libhwloc", "libudev"}
        in_every_process, = self.libraries_by_process("true")  # includes those of /etc/ld.so.preload
        self.assertLessEqual(loaded - in_every_process, allowed)

    # Tests without a launcher.

    def test_the_program_gets_the_library_and_its_own_words(self):
        done = self.huddle("--stats", "./show", "--json", "-n")
        self.assertEqual(done.stdout, f"--json mark=here stats=1 ops= preload={self.preload}\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.huddle("--", "./show", "--", "x")
        self.assertTrue(done.stdout.startswith("-- mark=here"))

    def test_files_preloaded_by_the_user_come_first(self):
        mine = str(self.folder / "lib/huddle/libhuddle_mpich.so")
        done = self.huddle("./show", LD_PRELOAD=mine)
        self.assertIn(f"preload={mine}:{self.preload}\n", done.stdout)
        twice = self.huddle(self.folder / "bin/huddle", "run", "./show")
        self.assertIn(f"preload={self.preload}\n", twice.stdout)

    def test_heap_comes_last_if_requested(self):
        heap = self.folder / "lib/huddle/libhuddle_heap.so"
        self.expect_note("libhuddle_heap.so is not in", "--heap", "on", "./show")
        shutil.copy(self.preload, heap)
        try:
            plan = self.dry_run("--heap", "on", "./show", LD_PRELOAD=f"/t.so:{heap}")
            self.assertEqual(plan["environment"]["LD_PRELOAD"], f"/t.so:{self.preload}:{heap}")
            self.assertEqual(plan["environment"]["HUDDLE_HEAP"], "on")
            for words in (["--heap", "off"], ["--heap", "on", "--off"]):
                plan = self.dry_run(*words, "./show")
                self.assertEqual(plan["environment"]["LD_PRELOAD"], self.preload)
        finally:
            heap.unlink()

    def preloads_the_heap(self, *words, here="guest-2-cores"):
        """Returns whether the heap is on by default if this is the recorded machine."""
        plan = self.dry_run("--heap", "auto", *words, "./show", HWLOC_THISSYSTEM="1",
                            HWLOC_XMLFILE=str(RECORDED / f"{here}.xml"))
        return "libhuddle_heap.so" in plan["environment"]["LD_PRELOAD"]

    def test_heap_is_on_by_default_if_calibration_shows_a_gain(self):
        heap = self.folder / "lib/huddle/libhuddle_heap.so"
        machine = self.folder / "calibrated.toml"
        measured = CALIBRATED.read_text(encoding="utf-8").partition("[[array]]")[0]

        def with_loads_in_heap(ns):
            arrays = [f'[[array]]\nplace = "{place}"\nload_ns = {load_ns}\nstream_ns = 5\n'
                      'spread = 0.05\norigin = "measured"\n'
                      for place, load_ns in (("program", 10), ("heap", ns))]
            return measured + "".join(arrays)

        shutil.copy(self.preload, heap)
        try:
            for text, pays in ((with_loads_in_heap(10), True), (with_loads_in_heap(16), False),
                               (measured, False)):
                machine.write_text(text, encoding="utf-8")
                self.assertEqual(self.preloads_the_heap("--machine", machine), pays)
            # A file of another machine does not apply to this one, and without a file nothing is
            # known.
            machine.write_text(with_loads_in_heap(10), encoding="utf-8")
            self.assertFalse(self.preloads_the_heap("--machine", machine, here="i7-6700"))
            self.assertFalse(self.preloads_the_heap())
        finally:
            heap.unlink()

    def test_broken_machine_file_on_the_command_line_is_an_error(self):
        (self.folder / "empty.toml").touch()
        for name, why in (("nowhere.toml", "cannot read nowhere.toml"),
                          ("empty.toml", "empty.toml:1: 'schema' is missing")):
            done = self.expect_note(why, "--machine", name, "./show", status=3)
            self.assertEqual(done.stdout, "")
            for words, more in (([], {"HUDDLE_MACHINE": str(self.folder / name)}),
                                (["--off", "--machine", name], {}),
                                (["--machine", name], {"HUDDLE": "off"})):
                done = self.huddle(*words, "./show", **more)
                self.assertEqual((done.returncode, done.stderr), (0, ""), (words, more))

    def test_errors_in_a_configuration_file_are_one_warning(self):
        file = self.config('machin = "x"\nstats = "on"\n')
        warning = f"huddle: warning: ignored: {file}:1: unknown setting 'machin'; did you mean 'machine'?\n"
        done = self.huddle("./show")
        self.assertEqual((done.returncode, done.stderr), (0, warning))
        self.assertTrue(done.stdout.startswith(" mark=here stats=1"), done.stdout)
        for words, more in ((["--off"], {}), ([], {"HUDDLE": "off"})):
            done = self.huddle(*words, "./show", **more)
            self.assertEqual((done.returncode, done.stderr), (0, warning), (words, more))
        later = self.huddle("./show", PMI_RANK="1")
        self.assertEqual((later.returncode, later.stderr), (0, ""), "the first rank has warned")
        self.assertEqual(self.dry_run("./show")["environment"]["_HUDDLE_SETTINGS_REPORTED"], "1")

    def test_configuration_file_that_is_not_toml_is_one_warning(self):
        file = self.config("stats = on\n")
        self.expect_note(f"warning: ignored: {file}:1: ", "./show")

    def test_errors_in_the_environment_are_one_warning_each(self):
        done = self.huddle("./show", HUDDLE_MACHNE="x")
        self.assertEqual((done.returncode, done.stderr),
                         (0, "huddle: warning: ignored: HUDDLE_MACHNE is not a setting; did you mean "
                             "HUDDLE_MACHINE?\n"))
        self.expect_note("HUDDLE_OPS: unknown word 'bcst'", "./show", HUDDLE_OPS="bcst")

    def test_settings_of_every_layer_reach_the_program(self):
        config = self.config('stats = "on"\nmachine = "node.toml"\n')
        plan = self.dry_run("--verify", "--off", "./show", HUDDLE_OPS="^scan", HUDDLE_COLOR="never")
        self.assertEqual(plan["environment"],
                         {"LD_PRELOAD": self.preload, "HUDDLE": "off", "HUDDLE_STATS": "1",
                          "HUDDLE_MACHINE": str(config.parent / "node.toml"),
                          "HUDDLE_OPS": "^scan", "HUDDLE_VERIFY": "1", "HUDDLE_COLOR": "never"})

    def test_summary_is_on_in_a_terminal_or_on_request(self):
        def said(stderr=subprocess.DEVNULL, words=(), **more):
            done = subprocess.run([self.folder / "bin/huddle", "run", "--dry-run", "--json", *words,
                                   "./show"], stdout=subprocess.PIPE, stderr=stderr, text=True,
                                  check=True, cwd=self.folder, env=self.environment(**more))
            return json.loads(done.stdout)["environment"].get("HUDDLE_SUMMARY")

        ours, theirs = os.openpty()
        try:
            self.assertEqual(said(), None)
            self.assertEqual(said(words=["-v"]), "times")
            self.assertEqual(said(words=["-v"], HUDDLE_SUMMARY="0"), "times")
            self.assertEqual(said(stderr=theirs), "1")
            self.assertEqual(said(stderr=theirs, HUDDLE_SUMMARY="0"), "0")
        finally:
            os.close(ours)
            os.close(theirs)

    # Tests of comparisons.

    def compare(self, rounds, program, *options, **more):
        return self.huddle("--compare", str(rounds), *options, program, **more)

    def comparable(self):
        """Creates a program that records in a file whether each run had huddle, and timed its collectives."""
        (self.folder / "ways").write_text("", encoding="utf-8")
        return self.shell_script("compared", """
            [ "$MARK" = here ] && way=huddle || way=native
            [ "$HUDDLE" = off ] && [ "$MARK" = here ] && way=off
            [ "$HUDDLE_SUMMARY" = times ] && way=timed-$way
            [ "$HUDDLE_SUMMARY" = times ] && [ "$REPORTS" != no ] && echo "huddle: blocking" \
              "collectives took 1 s of the 2 s from MPI_Init to MPI_Finalize ($SHARE %); a word" >&2
            echo $way >> ways; echo a word
            [ $way = huddle ] && echo "huddle: 7 collectives of rank 0 handled, 0 left" >&2
            exit 0""")

    def test_comparison_alternates_and_reports_the_result(self):
        program = self.comparable()
        done = self.compare(6, program, REPORTS="no")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.ways(), ["native", "huddle", "native", "timed-off", "native", "huddle",
                                       *["huddle", "native", "native", "huddle"] * 2])
        self.assertNotIn("a word", done.stdout)
        self.assertNotIn("Collectives", done.stdout)
        self.assertIn(" from 6 runs of each, alternately\n", done.stdout)
        self.assertIn("huddle: 7 collectives of rank 0 handled", done.stderr)
        told = json.loads(self.compare(2, program, "--json").stdout)
        self.assertEqual((told["schema"], told["command"]), (1, "run --compare"))
        self.assertEqual([len(told[side]["wall_seconds"]) for side in ("native", "huddle")], [2, 2])
        self.assertFalse(told["speedup"]["enough_runs"])
        self.assertEqual(told["taken"], "7 collectives of rank 0 handled, 0 left")

    def ways(self):
        return (self.folder / "ways").read_text(encoding="utf-8").split()

    def test_comparison_reports_the_share_of_collectives(self):
        program = self.comparable()
        told = json.loads(self.compare(7, program, "--json", SHARE="25").stdout)
        self.assertEqual(told["collectives"], {"native_share": 0.25, "huddle_share": 0.25,
                                               "native_shares": [0.25] * 3, "huddle_shares": [0.25] * 3})
        turns = [["huddle", "native"], ["native", "huddle"]] * 4
        expected = ["native"]
        for number, turn in enumerate(turns[:7]):
            expected += turn + (["timed-off", "timed-huddle"] if number in (0, 2, 4) else [])
        self.assertEqual(self.ways(), expected)

    def test_settings_of_the_command_line_reach_every_run_with_huddle(self):
        program = self.shell_script("asks", '[ "$MARK" != here ] || [ "$HUDDLE_OPS" = ^scan ]')
        done = self.compare(1, program, "--ops", "^scan")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_ranks_of_a_daemon_are_not_other_programs(self):
        # The runs have to last for 0.3 s in total, so that the kernel's ticks are exact enough.
        program = self.shell_script("lasts", "exec sleep 0.3")

        def load(**more):
            return json.loads(self.compare(1, program, "--json", **more).stdout)["other_load"]

        self.assertIn(load()["busy"], (False, True))
        in_slurm = load(SLURM_JOB_ID="1")
        self.assertEqual((in_slurm["busy"], in_slurm["used_by_others"]), (None, None))
        self.assertGreaterEqual(in_slurm["stolen"], 0)

    def test_compared_runs_do_not_time_each_call(self):
        program = self.shell_script("untimed", """
            [ "$MARK" != here ] || { [ "$HUDDLE_STATS" = 0 ] && [ "$HUDDLE_SUMMARY" = 1 ]; }""")
        done = self.compare(1, program, "-v", HUDDLE_STATS="1", HUDDLE_SUMMARY="times")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_comparison_measures_start_up_with_a_program_without_work(self):
        helper = self.folder / "lib/huddle/huddle-start-up"
        helper.write_text('#!/bin/sh\necho "start-up-$MARK-$#" >> ways\n', encoding="utf-8")
        helper.chmod(0o755)
        self.addCleanup(helper.unlink)
        program = self.comparable()
        told = json.loads(self.compare(2, program, "--json").stdout)
        self.assertIsNone(told["start_up"], "the MPI of a script is not known")
        self.assertNotIn("start-up", " ".join(self.ways()))

        program = self.shell_script("plain", "exit 0")
        (self.folder / "ways").write_text("", encoding="utf-8")
        told = json.loads(self.compare(2, program, "--json").stdout)["start_up"]
        self.assertEqual(told["program"], "does nothing")
        self.assertEqual((len(told["native_seconds"]), len(told["huddle_seconds"])), (2, 2))
        without, with_huddle = "start-up--0", "start-up-here-0"
        self.assertEqual(self.ways(), [without, with_huddle, with_huddle, without, without, with_huddle])

    def test_failing_run_ends_the_comparison_with_its_output(self):
        for lines, side in (("echo broken >&2; exit 4", "without"),
                            ('[ "$MARK" = here ] && echo broken && exit 4; exit 0', "with")):
            done = self.compare(2, self.shell_script("fails", lines))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"a run {side} huddle failed with exit status 4", done.stderr)
            self.assertIn("broken", done.stderr)

    def test_each_run_reads_the_same_input(self):
        program = self.shell_script("reads", "read line; echo \"$line\" >> ways")
        (self.folder / "ways").write_text("", encoding="utf-8")
        (self.folder / "input").write_text("one\ntwo\n", encoding="utf-8")
        with open(self.folder / "input", encoding="utf-8") as file:
            subprocess.run([self.folder / "bin/huddle", "run", "--compare", "1", program], stdin=file,
                           check=True, capture_output=True, cwd=self.folder, env=self.environment())
        self.assertEqual((self.folder / "ways").read_text(encoding="utf-8"), "one\n" * 3)

    def test_an_interrupted_comparison_ends_the_program(self):
        program = self.shell_script("stays", "echo $$ > pid; exec sleep 1000")
        with subprocess.Popen([self.folder / "bin/huddle", "run", "--compare", "2", program],
                              cwd=self.folder, stderr=subprocess.PIPE, text=True,
                              env=self.environment()) as process:
            pid = self.folder / "pid"
            while not (pid.exists() and pid.read_text(encoding="utf-8").endswith("\n")):
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            self.assertIn("0 of 2 runs of each", process.communicate(timeout=PATIENCE_SECONDS)[1])
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertFalse(pathlib.Path("/proc", pid.read_text(encoding="utf-8").strip()).exists())

    def test_no_notes_about_mpi_if_threads_are_observed(self):
        plain = self.build("int main(void) { return 0; }", self.folder / "threads_only")
        done = self.huddle("-v", "--threads", "move", plain)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("MPI", done.stderr)
        plan = self.dry_run("-v", "--threads", "move", plain)
        self.assertNotIn("MPI", "".join(plan["notes"]))
        done = self.compare(2, plain, "--threads", "move")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("MPI", done.stderr)
        self.assertNotIn("handled", done.stderr)

    def test_comparison_starts_an_agent_for_each_run_with_huddle(self):
        program = self.shell_script("fails_with", '[ "$MARK" = here ] && exit 4; exit 0')
        done = self.compare(2, program, "--threads", "move")
        self.assertIn("a run with huddle failed with exit status 4", done.stderr)
        # The copied program has no library for threads next to it, so the agent of that run reports
        # it.
        self.assertIn("threads are not observed: libhuddle_threads.so is missing", done.stderr)

    def test_comparison_refuses_conflicting_options(self):
        for words in (["--compare", "0"], ["--compare", "x"], ["--compare", "3", "--off"],
                      ["--compare", "3", "--dry-run"]):
            self.assertEqual(self.huddle(*words, "./show").returncode, 2, words)

    def test_status_and_signal_are_those_of_the_program(self):
        self.assertEqual(self.huddle("sh", "-c", "exit 77").returncode, 77)
        self.assertEqual(self.huddle("sh", "-c", "kill -9 $$").returncode, -signal.SIGKILL)
        waits = "echo ready; read line; exit 1"
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([self.folder / "bin/huddle", "run", "sh", "-c", waits], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env=self.environment()) as process:
                self.assertEqual(process.stdout.readline(), "ready\n")
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE_SECONDS), -number)

    def test_an_ignored_pipe_signal_stays_ignored(self):
        shows = ["run", "sh", "-c", "kill -PIPE $$; echo alive"]
        for restore in (True, False):
            done = subprocess.run([self.folder / "bin/huddle", *shows], env=self.environment(),
                                  restore_signals=restore, capture_output=True, check=False)
            self.assertEqual(done.stdout, b"" if restore else b"alive\n")

    def test_no_descriptor_is_left_open(self):
        done = self.huddle("sh", "-c", "ls /proc/$$/fd")
        self.assertEqual(done.stdout.split(), ["0", "1", "2"])

    # Tests of errors.

    def test_missing_command_is_a_usage_error(self):
        for words, advice in (([], "huddle run mpirun -n 4 ./app"), (["no-such"], "check its name"),
                              (["./no-such"], "check the path"), (["show"], "use ./show"),
                              (["topo"], "'topo' is not in PATH"), (["--stat", "./show"], "--stats"),
                              (["--json", "./show"], "--dry-run"),
                              (["--ops", "bcst", "./show"], "'bcast'")):
            done = self.huddle(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(advice, done.stderr)

    def test_unsupported_programs_run_with_a_note(self):
        text = "int main(void) { return 3; }"
        plain = self.build(text, self.folder / "plain")
        self.expect_note("plain loads no MPI library", plain, status=3)
        static = self.build(text, self.folder / "static", "-static")
        self.expect_note("static is statically linked", static, status=3)
        later = self.huddle(plain, PMI_RANK="1")
        self.assertEqual((later.returncode, later.stderr), (3, ""), "the first rank has said it")

    def test_mpi_linked_into_the_program_is_reported(self):
        mpi = "int PMPI_Init(void) { return 5; } "
        main = "int PMPI_Init(void); int main(void) { return PMPI_Init(); }"
        archive = self.build(mpi + main, self.folder / "inner")
        self.expect_note("inner contains its MPI", archive, status=5)
        shown = self.build(mpi + main, self.folder / "shown", "-rdynamic", "-s")
        self.expect_note("shown contains its MPI", shown, status=5)
        # A tool inside a program defines MPI_Init and calls the library's PMPI_Init.
        self.build(mpi, self.folder / "libmpi.so.78", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.78")
        tool = self.build(main + " int MPI_Init(void) { return PMPI_Init(); }", self.folder / "tool",
                          f"{self.folder}/libmpi.so.78", f"-Wl,-rpath,{self.folder}")
        done = self.huddle(tool)
        self.assertEqual((done.returncode, done.stderr), (5, ""))

    def test_programs_that_may_load_an_mpi_get_no_note(self):
        opens = "void *dlopen(const char *, int); int main(void) { return !dlopen((void *)0, 1); }"
        self.build("int MPI_Init;", self.folder / "libmpi.so.77", "-shared", "-fPIC",
                   "-Wl,-soname,libmpi.so.77")
        self.build("int lies_between;", self.folder / "libbetween.so", "-shared", "-fPIC",
                   "-Wl,--no-as-needed", f"{self.folder}/libmpi.so.77", f"-Wl,-rpath,{self.folder}")
        linked = self.build("int main(void) { return 0; }", self.folder / "linked",
                            "-Wl,--no-as-needed", f"{self.folder}/libbetween.so",
                            f"-Wl,-rpath,{self.folder}")
        self.build("int execvp(const char *, char *const *); int on(void) { return execvp(\"\", 0); }",
                   self.folder / "libonward.so", "-shared", "-fPIC")
        starts = self.build("int on(void); int main(void) { on(); return 0; }", self.folder / "starts",
                            f"{self.folder}/libonward.so", f"-Wl,-rpath,{self.folder}")
        for words in ([self.build(opens, self.folder / "opens")], [linked], [starts], ["env", "true"],
                      [sys.executable, "-c", ""]):
            done = self.huddle(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)

    def test_missing_library_is_reported(self):
        bare = self.folder / "bare/bin"
        bare.mkdir(parents=True)
        shutil.copy(HUDDLE, bare / "huddle")
        done = self.expect_note("libhuddle_preload.so is not in", "./show",
                                program="bare/bin/huddle")
        self.assertIn("mark= ", done.stdout)
        spaced = self.folder / "a space"
        shutil.copytree(self.folder / "lib", spaced / "lib")
        (spaced / "bin").mkdir()
        shutil.copy(HUDDLE, spaced / "bin/huddle")
        done = self.expect_note("has a space", "./show", program="a space/bin/huddle")
        self.assertIn("mark= ", done.stdout)
        half = self.folder / "half"
        shutil.copytree(self.folder / "lib", half / "lib")
        (half / "bin").mkdir()
        shutil.copy(HUDDLE, half / "bin/huddle")
        (half / "lib/huddle/libhuddle_mpich.so").unlink()
        done = self.huddle("./show", program="half/bin/huddle")
        self.assertIn("mark=here", done.stdout)
        self.assertEqual(done.stderr, "", "only a program of that MPI needs it, and the stub warns")

    def test_an_unknown_launcher_gets_the_environment(self):
        launcher = self.folder / "mpirun"
        launcher.write_text('#!/bin/sh\n[ "$1" = --version ] || exec "$@"\n', encoding="utf-8")
        launcher.chmod(0o755)
        done = self.expect_note("unknown launcher", "./mpirun", "./show", "a")
        self.assertTrue(done.stdout.startswith("a mark=here"))

    # Tests with launchers.

    def check_launcher(self, launcher):
        """Both the shell line and the run pass everything to the ranks of both programs."""
        command = [launcher, "-n", "2", "./show", "a b", ":", "-n", "1", "./show", "c"]
        options = ["--stats", "--ops", "^bcast,scan"]
        values = f"mark=here stats=1 ops=^bcast,scan preload={self.preload}"
        expected = sorted([f"a b {values}", f"a b {values}", f"c {values}"])
        done = self.huddle(*options, *command)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(done.stdout.splitlines()), expected)
        line = self.huddle("--dry-run", *options, *command).stdout
        self.assertEqual(line.count("\n"), 1)
        self.assertEqual(self.ranks_of(["sh", "-c", line]), expected)
        words = self.dry_run(*options, *command)["argv"]
        self.assertEqual(self.ranks_of(words), expected, "by the launcher's options alone")

    def ranks_of(self, words):
        done = subprocess.run(words, text=True, capture_output=True, check=True, cwd=self.folder,
                              stdin=self.open_input, timeout=PATIENCE_SECONDS,
                              env=self.environment())
        return sorted(done.stdout.splitlines())

    def test_every_rank_of_every_launcher_gets_everything(self):
        found = launchers()
        if not found:
            self.skipTest("no launcher of MPI programs is installed")
        for launcher in found:
            with self.subTest(launcher=launcher):
                self.check_launcher(launcher)
                self.assertIsNotNone(self.dry_run(launcher, "./show")["mpi"])

    def test_status_passes_through_a_launcher(self):
        for launcher in launchers():
            with self.subTest(launcher=launcher):
                done = self.huddle(launcher, "-n", "1", "sh", "-c", "exit 7")
                self.assertEqual(done.returncode, 7)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
