#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests huddle bench with the MPIs of Debian: mpi_test.py HUDDLE [--timed].

Without --timed it checks only that all figures are printed, that the data are right and that huddle was
measured. With --timed it compares an MPI with itself, slowed down by known factors.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HUDDLE = sys.argv[1]
REPOSITORY = pathlib.Path(__file__).parents[4]
LAUNCHERS = [path for path in map(shutil.which, ("mpiexec.openmpi", "mpiexec.mpich")) if path]
SKIPPED = 77
OPERATIONS = {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter",
              "reduce_scatter_block", "scan"}


def bench(launcher, *options, **environment):
    """Returns the JSON of one run."""
    command = [HUDDLE, "bench", "--mpi", launcher, "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          # Measured times may decide against the predicted algorithm.
                          env={**os.environ, "HUDDLE_TUNE": "off", **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def figures_come_and_data_are_right(launcher, ranks):
    report = bench(launcher, "-n", str(ranks), "--sizes", "8,4K,256K", "--seconds", "1")
    assert report["schema"] == 1 and report["ranks"] == ranks and not report["interrupted"], report
    assert len(report["mpis"]) == 1 and report["mpis"][0]["version"], report
    assert {point["operation"] for point in report["points"]} == OPERATIONS
    assert report["machine_model"]["topology"]["cores"] > 0, report["machine_model"]
    assert len(report["points"]) == 1 + 3 * (len(OPERATIONS) - 1)
    for point in report["points"]:
        assert point["passed_calls"] == 0, f"left to the MPI: {point}"
        for side in ("native", "huddle"):
            batches = point[f"{side}_batches_ns"]
            assert len(batches) == point["estimate"]["batches"] and all(map(len, batches)), point
            assert all(ns > 0 for batch in batches for ns in batch), point
        choice = point["choice"]
        assert choice["algorithm"] and choice["predicted_ns"] > 0, f"what ran is not known: {point}"
        assert choice["algorithm"] not in [one["algorithm"] for one in choice["others"]], point
        low, ratio, high = (point["estimate"][key] for key in ("low", "ratio", "high"))
        assert low <= ratio <= high, point


def buffers_are_in_the_heap_where_that_is_wanted(launcher):
    """Uses a recorded machine on which reading mapped memory was measured to be cheap."""
    machine = ["--machine", str(REPOSITORY / "machines/amd-epyc-2c-1b1d3050.toml")]
    recorded = str(REPOSITORY / "tests/model/machine/topologies/guest-2-cores.xml")
    for wanted in ("on", "off"):
        report = bench(launcher, "-n", "2", "--heap", wanted, "--ops", "scatter,allreduce", "--sizes", "1M",
                       "--seconds", "2", *machine, HWLOC_THISSYSTEM="1", HWLOC_XMLFILE=recorded)
        choices = [point["choice"] for point in report["points"]]
        ways = [way["parameters"] for choice in choices for way in (choice, *choice["others"])]
        assert any("heap" in way for way in ways) == (wanted == "on"), ways


def loops_as_osu_has_them_are_timed(launcher):
    """Every operation is timed, none falls back to the MPI, and the data are right."""
    report = bench(launcher, "--loop", "osu", "--sizes", "8,256K", "--seconds", "1")
    assert report["settings"]["timing"] == "osu", report["settings"]
    assert {point["operation"] for point in report["points"]} == OPERATIONS
    for point in report["points"]:
        assert point["passed_calls"] == 0 and point["calls_in_a_stretch"] >= 10, point
        assert "choice" not in point and "floor_ns" not in point, point


def starts_are_timed(launcher):
    """Does not require that the bar is met here."""
    command = [HUDDLE, "bench", "--mpi", launcher, "--json", "--cold", "3", "--ops", "barrier,alltoall",
               "--sizes", "64K", "--seconds", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    assert report["settings"]["timing"] == "cold" and report["settings"]["cold_calls"] == 3, report
    for point in report["points"]:
        assert point["calls_in_a_stretch"] == 3, point
        for side in ("native", "huddle"):
            assert all(len(batch) == 1 and batch[0] > 0 for batch in point[f"{side}_batches_ns"]), point


def guidelines_are_measured(launcher, ranks):
    """Every mock-up returns right data, for messages that the ranks divide evenly and for others, and none falls back.

    A run fails if data are wrong. The machine decides which guidelines are violated.
    """
    command = [HUDDLE, "bench", "--mpi", launcher, "--json", "--guidelines", "-n", str(ranks), "--sizes", "8,4K,100000",
               "--seconds", "6"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "HUDDLE_TUNE": "off"})
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    assert report["what"] == "guidelines" and report["ranks"] == ranks, report
    assert len({point["guideline"] for point in report["points"]}) == 41
    assert len(report["points"]) == 1 + 3 * 40
    for point in report["points"]:
        assert point["huddle"]["passed_calls"] == 0, f"left to the MPI: {point}"
        for side in ("native", "huddle"):
            found = point[side]
            rounds = found["estimate"]["batches"]
            assert len(found["call_batches_ns"]) == len(found["mockup_batches_ns"]) == rounds > 0, point
            assert found["verdict"] != "violated" or found["again"]["low"] > 1.05, point
    violated = sum(point["huddle"]["verdict"] == "violated" for point in report["points"])
    assert report["violated"]["huddle"] == violated, report["violated"]
    assert done.returncode == (1 if violated else 0), done.returncode


def what_huddle_does_not_take_is_seen(launcher):
    """The user's settings for programs do not affect the benchmark."""
    report = bench(launcher, "--ops", "bcast", "--sizes", "8", "--seconds", "1", HUDDLE_OPS="^bcast",
                   HUDDLE_VERIFY="1")
    assert report["points"][0]["passed_calls"] == 0, report["points"]


def children_named(name):
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", encoding="utf-8", errors="replace") as line:
                words = line.read().split("\0")
        except OSError:
            continue
        if any(name in word for word in words[:1]):
            found.append(int(process))
    return found


def an_interrupt_keeps_what_was_measured(launcher):
    before = set(children_named("huddle-bench"))
    process = subprocess.Popen([HUDDLE, "bench", "--mpi", launcher, "--ops", "bcast",
                                "--sizes", "8:4M:2", "--seconds", "600"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "[3/" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT, process.returncode
    assert "\nbcast" in out and "\n  8 " in out and "\n  16 " in out, out
    assert "Ctrl-C" in err, err
    end = time.monotonic() + 30
    while set(children_named("huddle-bench")) - before and time.monotonic() < end:
        time.sleep(0.1)
    left = set(children_named("huddle-bench")) - before
    assert not left, f"ranks are left behind: {left}"


def known_factors_are_found(launcher):
    """Nearly all intervals must contain the true ratio; the machine may be disturbed for a while."""
    for factor in (1.05, 1.5, 3):
        report = bench(launcher, "--sizes", "8,4K,64K,1M", BENCH_RANKS_TWIN=str(factor))
        # Only points below the bar were repeated, as required.
        estimates = [point["estimate"] for point in report["points"]]
        held = [e["low"] - 0.01 <= 1 / factor <= e["high"] + 0.01 for e in estimates]
        print(f"{launcher}: {factor}: {sum(held)} of {len(held)} intervals hold it")
        assert sum(held) >= len(held) - 2, estimates


def main():
    if not LAUNCHERS:
        print("neither Open MPI nor MPICH of Debian is installed (scripts/packages.txt): not tried")
        return SKIPPED
    if "--timed" in sys.argv:
        known_factors_are_found(LAUNCHERS[0])
        return 0
    for launcher in LAUNCHERS:
        figures_come_and_data_are_right(launcher, 2)
        buffers_are_in_the_heap_where_that_is_wanted(launcher)
        guidelines_are_measured(launcher, 2)
    guidelines_are_measured(LAUNCHERS[0], 3)
    figures_come_and_data_are_right(LAUNCHERS[0], 3)
    loops_as_osu_has_them_are_timed(LAUNCHERS[0])
    starts_are_timed(LAUNCHERS[0])
    what_huddle_does_not_take_is_seen(LAUNCHERS[0])
    an_interrupt_keeps_what_was_measured(LAUNCHERS[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
