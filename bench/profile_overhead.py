#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Measures what huddle profile adds to the time of a message: profile_overhead.py [--rounds N] [--bytes N] MPI...

For each MPI that bench/peers has set up, times messages through the preloaded library and directly, alternating in
one process, and prints the ratio of the medians with its 95 % confidence interval (by bootstrap over the rounds).
The same with nothing preloaded shows the error of the measurement.
"""
import argparse
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "huddle/peers"
LINE = re.compile(r"^([\d.]+) ([\d.]+)$", re.MULTILINE)
DRAWS = 2000


def interval(rounds):
    draw = random.Random(1)
    ratios = sorted(ratio(draw.choices(rounds, k=len(rounds))) for _ in range(DRAWS))
    return ratios[DRAWS // 40], ratios[-DRAWS // 40]


def ratio(rounds):
    return statistics.median(a for a, _ in rounds) / statistics.median(b for _, b in rounds)


def measure(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    rounds = [(float(a), float(b)) for a, b in LINE.findall(done.stdout)]
    low, high = interval(rounds)
    direct = statistics.median(b for _, b in rounds)
    return f"{direct:7.1f} ns a message, {100 * (ratio(rounds) - 1):+.2f} % ({100 * (low - 1):+.2f} to {100 * (high - 1):+.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpi", nargs="+")
    parser.add_argument("--huddle", default=HERE.parent / "build/release/bin/huddle")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--bytes", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.mpi:
            program = pathlib.Path(folder) / name
            subprocess.run([PEERS / name / "mpicc", "-O2", HERE / "message_rate.c", "-o", program, "-ldl"], check=True)
            job = [PEERS / name / "run", "-n", 2, program, given.rounds, given.bytes]
            print(f"{name}: nothing preloaded: {measure(job)}")
            print(f"{name}: profiled:          "
                  f"{measure([given.huddle, 'profile', '--of', 'ranks', '--output', f'{folder}/comm.json', *job])}", flush=True)


if __name__ == "__main__":
    main()
