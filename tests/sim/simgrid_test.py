#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""What huddle's simulator says against SimGrid, which runs the same schedules on the same links without
rounds: simgrid_test.py HUDDLE [--thorough]. `huddle-judge-simgrid` has to lie beside that huddle.

Where no link is shared both have to agree within 10 %, elsewhere within 25 %. At 95 % of the points both
name the same winner, or huddle's is within 5 % of SimGrid's."""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = ("8", "8K", "120K")
ALONE, SHARED, WINNER, POINTS = 0.10, 0.25, 0.05, 0.95
# One switch is a fat tree's first.
FEW = [("fat-tree-1to1", 16), ("fat-tree-2to1", 64)]
MANY = FEW + [("fat-tree-1to1", 32), ("fat-tree-1to1", 64), ("dragonfly", 64), ("fat-tree-2to1", 256),
              ("deepcomp-6800-qsnet", 64), ("fat-tree-1to1", 1024)]


def simulated(huddle, fabric, ranks, size):
    command = [huddle, "sim", "--fabric", str(ROOT / "machines/fabrics" / f"{fabric}.toml"), "allgather", size,
               "--ranks", str(ranks), "--with", "simgrid", "--json"]
    return json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)["algorithms"]


def differences(where, rows):
    for row in rows:
        off = row["ns"] / row["simgrid_ns"] - 1
        limit = SHARED if row["goes_into_ns"]["sharing"] > 0 else ALONE
        print(f"{where:36} {row['algorithm']:20} {row['ns'] / 1000:12.1f} us  SimGrid {off:+7.2%}")
        if abs(off) > limit:
            yield f"{where} {row['algorithm']}: {off:+.1%} of SimGrid's time, more than {limit:.0%}"


def same_winner(rows):
    best = min(row["simgrid_ns"] for row in rows)
    return rows[0]["simgrid_ns"] <= best * (1 + WINNER)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("huddle")
    parser.add_argument("--thorough", action="store_true")
    options = parser.parse_args()
    findings, winners = [], []
    for fabric, ranks in MANY if options.thorough else FEW:
        for size in SIZES:
            rows = simulated(options.huddle, fabric, ranks, size)
            findings += differences(f"{fabric}, {ranks} ranks, {size}", rows)
            winners.append(same_winner(rows))
    print(f"the same winner at {sum(winners)} of {len(winners)} points")
    if sum(winners) < POINTS * len(winners):
        findings.append("too often another winner")
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
