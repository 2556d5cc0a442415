#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Compares huddle's simulator with SimGrid, which runs the same schedules on the same links without rounds.

Usage: simgrid_test.py HUDDLE [--thorough]. `huddle-judge-simgrid` must be in the directory of HUDDLE.

The same schedule   Times must agree within 10 % if no link is shared, otherwise within 25 %. At 95 % of the
                    points both must have the same winner, or huddle's must be within 5 % of SimGrid's.
Cards               In huddle a card sends one round after the other; in SimGrid all pending messages share it
                    evenly. One algorithm on Fast Ethernet takes twice as long for that reason: the test checks
                    both figures.
SMPI's algorithms   SimGrid's own MPI has four of them. Both simulators must give the same order, except for
                    algorithms within 5 % of each other."""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
SIZES = ("8", "8K", "120K")
ALONE, SHARED, TIE, POINTS = 0.10, 0.25, 0.05, 0.95
# A single switch is the first level of a fat tree.
FEW = [("fat-tree-1to1", 16), ("fat-tree-2to1", 64)]
MANY = FEW + [("fat-tree-1to1", 32), ("fat-tree-1to1", 64), ("dragonfly", 64), ("fat-tree-2to1", 256),
              ("deepcomp-6800-qsnet", 64), ("deepcomp-6800-ethernet", 64), ("fat-tree-1to1", 1024),
              ("fat-tree-2to1", 1024)]
# Time of far-first in SimGrid relative to huddle if messages share the cards.
CARDS = ("dawning-4000a-ethernet", 64, "allgather:far-first", {"8K": (1.9, 2.4), "120K": (2.1, 2.6)})
FEW_SMPI = [("fat-tree-2to1", 16)]
# SMPI moves real data, twice the square of the number of ranks in blocks: 256 ranks with 120 KB
# would need 16 GB.
MANY_SMPI = [("fat-tree-2to1", 16), ("fat-tree-2to1", 64), ("dragonfly", 64), ("deepcomp-6800-qsnet", 64),
             ("deepcomp-6800-ethernet", 64), ("dawning-4000a-ethernet", 64)]


def simulated(huddle, fabric, ranks, size, judge, what="allgather"):
    command = [huddle, "sim", "--fabric", str(ROOT / "machines/fabrics" / f"{fabric}.toml"), what, size,
               "--ranks", str(ranks), "--reference", judge, "--json"]
    return json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)["algorithms"]


def differences(where, rows):
    for row in rows:
        off = row["ns"] / row["judge_ns"] - 1
        limit = SHARED if row["goes_into_ns"]["sharing"] > 0 else ALONE
        print(f"{where:36} {row['algorithm']:20} {row['ns'] / 1000:12.1f} us  SimGrid {off:+7.2%}", flush=True)
        if abs(off) > limit:
            yield f"{where} {row['algorithm']}: {off:+.1%} of SimGrid's time, more than {limit:.0%}"


def same_winner(rows):
    best = min(row["judge_ns"] for row in rows)
    return rows[0]["judge_ns"] <= best * (1 + TIE)


def same_schedules(huddle, points):
    winners = []
    for (fabric, ranks), size in itertools.product(points, SIZES):
        rows = simulated(huddle, fabric, ranks, size, "simgrid")
        yield from differences(f"{fabric}, {ranks} ranks, {size}", rows)
        winners.append(same_winner(rows))
    print(f"the same winner at {sum(winners)} of {len(winners)} points")
    if sum(winners) < POINTS * len(winners):
        yield "too often another winner"


def cards(huddle):
    fabric, ranks, algorithm, expected = CARDS
    for size, (least, most) in expected.items():
        where = f"{fabric}, {ranks} ranks, {size}"
        yield from differences(f"{where}, in order",
                               simulated(huddle, fabric, ranks, size, "simgrid-in-order", algorithm))
        row, = simulated(huddle, fabric, ranks, size, "simgrid", algorithm)
        times = row["judge_ns"] / row["ns"]
        print(f"{where}: {algorithm} takes {times:.2f} times as long where cards are shared")
        if not least <= times <= most:
            yield f"{where}: {algorithm} {times:.2f} times huddle's, and not {least} to {most}"


def smpi_order(huddle, points):
    for (fabric, ranks), size in itertools.product(points, SIZES):
        rows = [row for row in simulated(huddle, fabric, ranks, size, "smpi") if row["judge_ns"]]
        where = f"{fabric}, {ranks} ranks, {size}"
        print(f"{where:36} SMPI: " + ", ".join(
            f"{row['algorithm'].split(':')[1]} {row['ns'] / 1000:.1f} us {row['judge_ns'] / row['ns'] - 1:+.1%}"
            for row in rows), flush=True)
        if len(rows) != 4:
            yield f"{where}: {len(rows)} algorithms that SMPI has, and not four"
        for first, second in itertools.combinations(rows, 2):  # faster one first
            apart = second["ns"] > first["ns"] * (1 + TIE)
            if apart and second["judge_ns"] * (1 + TIE) < first["judge_ns"]:
                yield f"{where}: {second['algorithm']} before {first['algorithm']} in SMPI"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("huddle")
    parser.add_argument("--thorough", action="store_true")
    options = parser.parse_args()
    findings = [*smpi_order(options.huddle, MANY_SMPI if options.thorough else FEW_SMPI),
                *cards(options.huddle),
                *same_schedules(options.huddle, MANY if options.thorough else FEW)]
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
