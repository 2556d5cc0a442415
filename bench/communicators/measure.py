#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Measures the cost of communicators that live for a few small calls, alternately without and with huddle:
measure.py --libraries DIR [--mpi MPI...] [--ranks N...] [--how HOW...] [--calls N...] [--lives N]
[--rounds N] [--output FILE]

Each run creates --lives communicators one after the other, by MPI_Comm_dup, by a split in halves or by
MPI_Comm_create_group, calls --calls barriers, allreduces and broadcasts of 8 bytes on each and frees it.
The table has the median life in microseconds and its ratio to native (above 1: huddle is slower); the file
has every run. The MPIs are those that bench/peers sets up.
Exits with status 1 if huddle is more than 5 % slower than native in any row.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/mpi/programs"))
import peer as peer_module  # noqa: E402  (beside the programs of the tests)

MPIS = ("openmpi-4", "openmpi-5", "mpich-4", "mpich-5", "intel")
WAYS = ("native", "huddle")
SKIPPED = 77
# Maximum number of calls of a run. Runs that would make more have fewer lives.
MOST_CALLS = 300_000
SLOWER = 1.05


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--mpi", nargs="+", choices=MPIS, default=list(MPIS))
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--how", nargs="+", choices=("dup", "halves", "group", "kept"),
                        default=["dup", "halves", "group"])
    parser.add_argument("--calls", nargs="+", type=int, default=[1, 3, 10, 30, 100, 1000, 10000])
    parser.add_argument("--lives", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", help="a JSON file with every run")
    return parser.parse_args()


def one_run(peer, program, given, way, ranks, how, calls):
    settings = {}
    if way == "huddle":
        settings["LD_PRELOAD"] = str(pathlib.Path(given.libraries).resolve() / "libhuddle_preload.so")
    lives = max(10, min(given.lives, MOST_CALLS // calls))
    command = peer.job(ranks, program, [how, calls, lives], settings)
    environment = peer.environment()
    if ranks <= (os.cpu_count() or 1):
        environment.pop("OMPI_MCA_mpi_yield_when_idle", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                          timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{peer.name}, {ranks} ranks, {how}, {calls} calls, {way}: {done.stderr}")
    return json.loads(done.stdout)


def measured(peer, program, given):
    for ranks in given.ranks:
        for how in given.how:
            for calls in given.calls:
                runs = {way: [] for way in WAYS}
                for turn in range(given.rounds):
                    for way in WAYS if turn % 2 == 0 else reversed(WAYS):
                        runs[way].append(one_run(peer, program, given, way, ranks, how, calls))
                median = {way: statistics.median(run["median_us"] for run in runs[way]) for way in WAYS}
                row = {"mpi": peer.name, "ranks": ranks, "how": how, "calls": calls,
                       "native_us": median["native"], "huddle_us": median["huddle"],
                       "ratio": round(median["huddle"] / median["native"], 3), "runs": runs}
                print(f"{peer.name:<10} {ranks:>5} {how:<7} {calls:>6} {median['native']:>12.2f} "
                      f"{median['huddle']:>12.2f} {row['ratio']:>7.3f}", flush=True)
                yield row


def main():
    given = arguments()
    peers = [peer_module.Peer(name) for name in given.mpi]
    peers = [peer for peer in peers if not peer.lacks()]
    if not peers:
        print("none of these MPIs is here: bench/peers sets them up", file=sys.stderr)
        return SKIPPED
    rows = []
    print(f"{'MPI':<10} {'ranks':>5} {'made by':<7} {'calls':>6} {'native us':>12} {'huddle us':>12} "
          f"{'ratio':>7}")
    with tempfile.TemporaryDirectory(prefix="lives-") as folder:
        for peer in peers:
            program = pathlib.Path(folder) / f"lives-{peer.name}"
            peer.compile_c(program, [HERE / "lives.c"])
            rows += measured(peer, program, given)
    if given.output:
        pathlib.Path(given.output).write_text(
            json.dumps({"schema": "huddle-communicators-1", "rows": rows}, indent=1) + "\n",
            encoding="utf-8")
    return 1 if any(row["ratio"] > SLOWER for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
