#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs programs that allocate and free large arrays, in random order with the shared heap and without it, and counts
the failures in a file.

    soak.py --libraries build/release/lib/huddle    runs until Ctrl-C, and continues where it stopped
    soak.py --status                                prints the counts, and bounds of the failure rates

A run fails if it hangs, dies, finds a wrong result or leaves something behind. Its folder below WORK/failures then
contains the output, core files with stacks and the build ids of the program and its libraries, or the stacks of a run
that hung. The first Ctrl-C ends the soak after the present run, the second one abandons that run. The tally counts the
runs of each commit separately; ways with fewer runs than others, after an interruption, catch up first.

The ways: native (without huddle), off (huddle without the heap), on (with the heap) and check (with the heap that
finds invalid accesses). Status 1: runs failed more often in one way than in the first of these that was run.
"""
import argparse
import contextlib
import dataclasses
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import suite
import workloads
from suite import HERE, peer_module
from tally import CONFIDENCE, Count, Key, Tally, highest_rate, order

MPIS = ("openmpi-4", "openmpi-5", "mpich-4", "mpich-5", "intel")
SKIPPED = 77
ROOT = HERE.parents[2]
# These folders determine the libraries. A commit of the tally alone does not start a new count.
SOURCES = ("src", "include", "cmake")
# Computes and sleeps in turns of at most 0.1 s, so that ranks lose their cores at any moment.
BUSY = "import random, time\nwhile True:\n    end = time.monotonic() + random.random() / 10\n" \
       "    while time.monotonic() < end: pass\n    time.sleep(random.random() / 10)\n"


def present_commit():
    """Returns the last commit that changed the libraries, with a mark if there are changes since; "unknown" outside of
    a checkout."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words, "--", *SOURCES], capture_output=True, text=True,
                              check=False).stdout.strip()
    return (git("log", "-1", "--format=%h") or "unknown") + ("-dirty" if git("status", "--porcelain") else "")


@contextlib.contextmanager
def busy(processes):
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


@contextlib.contextmanager
def alone_in(work):
    """Ends the program if another soak uses the folder."""
    with open(work / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"soak.py: another soak runs in {work}; stop it or choose another folder by --work")
        yield


def lower_priority(priority):
    """Leaves the cores to other programs; the ranks inherit it."""
    if priority == "normal":
        return
    os.nice(19)
    if priority == "idle":
        try:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        except OSError as error:
            print(f"soak.py: without SCHED_IDLE, only nice 19: {error.strerror}", flush=True)


class Interrupted:
    """Becomes true at the first SIGINT or SIGTERM. Later ones have their usual effect."""

    def __init__(self):
        self.is_set = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._remember)

    def _remember(self, _number, _frame):
        self.is_set = True
        print("soak.py: stops after the present run; once more abandons it", flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler)


def run_all(given, tally):
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    with alone_in(work):
        libraries = work / "libraries"  # a copy, because a build may replace the original ones
        shutil.rmtree(libraries, ignore_errors=True)
        shutil.copytree(given.libraries, libraries)
        peers = [peer_module.Peer(name) for name in suite.present(given.mpi)]
        if not peers:
            return SKIPPED
        found = {(workload.name, peer.name): (workload, peer) for peer in peers
                 for workload in workloads.workloads(peer, work / "programs")
                 if given.programs is None or workload.name in given.programs}
        commit = given.commit or present_commit()
        keys = [Key(*pair, commit, way) for pair in found for way in given.ways]
        lower_priority(given.priority)
        interrupted = Interrupted()
        before = tally.by_way()
        with busy(given.beside), contextlib.suppress(KeyboardInterrupt):
            for key in order(tally, keys, given.runs):
                if interrupted.is_set:
                    break
                run_one(key, *found[key.program, key.mpi], tally, work, given.patience)
    print_tally(tally)
    return status(before, tally.by_way())


def run_one(key, workload, peer, tally, work, patience_seconds):
    # All ways of a program have the same seeds.
    seed = (tally.seed(key.commit) + tally.runs(key)) % (1 << 31)
    folder = work / "running"
    shutil.rmtree(folder, ignore_errors=True)
    done = workloads.run(peer, workload, key.way, seed, work / "libraries", folder, patience_seconds)
    if done.wrong:
        kept = work / "failures" / f"{key.program}-{key.mpi}-{key.commit}-{key.way}-{seed}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.parent.mkdir(exist_ok=True)
        shutil.move(folder, kept)
        print(f"{key.mpi}: {key.program} {seed}: {key.way}: {done.wrong}\nkept {kept}", flush=True)
    tally.add(key, done.wrong != "")


def print_tally(tally):
    print(f"{'program':<11} {'MPI':<10} {'commit':<15} {'way':<7} {'runs':>6} {'failures':>8}")
    for key in sorted(tally.counts, key=dataclasses.astuple):
        count = tally.counts[key]
        print(f"{key.program:<11} {key.mpi:<10} {key.commit:<15} {key.way:<7} {count.runs:>6} {count.failures:>8}")
    print(f"\nAll programs, MPIs and commits, with the highest failure rate that is compatible with the count at "
          f"{CONFIDENCE:.0%} confidence:")
    for way, count in tally.by_way().items():
        print(f"{way:<7} {count.runs:>6} runs {count.failures:>6} failures  {highest_rate(count):.3%}")


def status(before, after):
    """Returns 1 if the runs between two counts failed more often in some way than in the first of the ways that were
    run."""
    made = {way: after[way] - before.get(way, Count()) for way in workloads.WAYS if way in after}
    rates = [count.failures / count.runs for count in made.values() if count.runs > 0]
    return 1 if any(rate > rates[0] for rate in rates[1:]) else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--libraries", type=pathlib.Path, help="the folder of libhuddle_preload.so; it is copied")
    what.add_argument("--status", action="store_true", help="print the tally and end")
    parser.add_argument("--tally", type=pathlib.Path, default=HERE / "heap-soak.csv", help="default: %(default)s")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/soak",
                        help="where programs are built and failures are kept (default: %(default)s)")
    parser.add_argument("--runs", type=int, help="runs of each program under each MPI, each way (default: without end)")
    parser.add_argument("--ways", nargs="+", choices=workloads.WAYS, default=["off", "on"], help="default: off on")
    parser.add_argument("--mpi", nargs="+", choices=MPIS, default=list(MPIS), help="default: all that are installed")
    parser.add_argument("--programs", nargs="+", metavar="PROGRAM", help="default: all that are installed")
    parser.add_argument("--commit", help="the commit of the libraries (default: the last one that changed the sources)")
    parser.add_argument("--patience", type=float, default=600, metavar="SECONDS",
                        help="a run that takes longer hangs (default: %(default)s)")
    parser.add_argument("--priority", choices=("idle", "nice", "normal"), default="idle",
                        help="idle: SCHED_IDLE and nice 19, which may starve on a busy machine; nice: nice 19")
    parser.add_argument("--beside", type=int, default=0, metavar="N", help="N more processes want a core as well")
    return parser.parse_args()


def main():
    given = arguments()
    tally = Tally(given.tally)
    if given.status:
        print_tally(tally)
        return 0
    return run_all(given, tally)


if __name__ == "__main__":
    sys.exit(main())
