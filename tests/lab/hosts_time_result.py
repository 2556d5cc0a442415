#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Prints the results of tests/lab/hosts_time.sh as a table: hosts_time_result.py TIMES PREDICTED.

TIMES has lines of LAYOUT SIDE OPERATION BYTES NS, several of each. PREDICTED has lines of LAYOUT OPERATION BYTES and
the output of huddle explain --json.
"""
import collections
import json
import math
import pathlib
import statistics
import sys

SIDES = ("default", "tuned", "han", "huddle")


def medians(path):
    all_ns = collections.defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        layout, side, operation, size, ns = line.split()
        all_ns[layout, operation, int(size), side].append(float(ns))
    return {key: statistics.median(values) for key, values in all_ns.items()}


def predictions(path):
    """Returns the predicted nanoseconds by point, of huddle or, if the call falls back to it, of the MPI."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        layout, operation, size, answer = line.split(" ", 3)
        answer = json.loads(answer)
        left = [mpi["measured_ns"] for mpi in answer["mpi"] if mpi["left_to_it"]]
        found[layout, operation, int(size)] = left[0] if left else answer["predicted_ns"]
    return found


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


# The algorithms in the order in which tests/lab/hosts_time.sh forces them.
FORCED = {
    "bcast": ("knomial", "chain", "scatter-ring", "scatter-doubling", "circulant"),
    "allreduce": ("doubling", "halving", "slices"),
    "allgather": ("ring", "neighbor", "doubling", "bruck", "sparbit", "far-first"),
}
NEAR = 1.15  # relative to the best


def compare_forced(ns, points):
    print("| operation, placement, bytes | forced, ms | chosen ms | chosen / best forced |")
    print("|---|---|---|---|")
    ratios = []
    for point in points:
        layout, operation, size = point
        forced = {name: ns[*point, f"forced-{number}"] for number, name in enumerate(FORCED[operation])}
        best = min(forced.values())
        ratios.append((ns[*point, "huddle"] / best, point))
        told = ", ".join(f"{name} {value / 1e6:.2f}" for name, value in sorted(forced.items(), key=lambda one: one[1]))
        print(f"| {operation}, {layout}, {size} | {told} | {ns[*point, 'huddle'] / 1e6:.2f} | {ratios[-1][0]:.2f} |")
    near = sum(ratio <= NEAR for ratio, _ in ratios)
    worst, where = max(ratios)
    print(f"\nchosen within 15 % of the best forced: {near} of {len(ratios)} points; worst {worst:.2f}, at "
          f"{' '.join(map(str, where))}")


def main():
    ns, predicted = medians(pathlib.Path(sys.argv[1])), predictions(pathlib.Path(sys.argv[2]))
    points = sorted({key[:3] for key in ns}, key=lambda point: (point[1], point[0], point[2]))
    if any(side.startswith("forced-") for *_, side in ns):
        compare_forced(ns, points)
        return
    print("| operation, placement, bytes | default ms | tuned ms | han ms | huddle ms | default / huddle "
          "| better of tuned and han / huddle | predicted / measured |")
    print("|---|---|---|---|---|---|---|---|")
    over_default, over_better, errors = [], [], []
    for point in points:
        layout, operation, size = point
        of_side = {side: ns.get((*point, side)) for side in SIDES}
        cells = [f"{of_side[side] / 1e6:.2f}" if of_side[side] else "-" for side in SIDES]
        ours, ratio, better, truth = of_side["huddle"], "-", "-", "-"
        if ours and of_side["default"]:
            over_default.append(of_side["default"] / ours)
            ratio = f"{over_default[-1]:.2f}"
        others = [of_side[side] for side in ("tuned", "han") if of_side[side]]
        if ours and others:
            over_better.append((min(others) / ours, point))
            better = f"{over_better[-1][0]:.2f}"
        if ours and point in predicted:
            off = predicted[point] / ours
            errors.append(abs(off - 1))
            truth = f"{off:.2f}"
        print(f"| {operation}, {layout}, {size} | {' | '.join(cells)} | {ratio} | {better} | {truth} |")
    if not over_default or not over_better or not errors:
        sys.exit("there is nothing to compare: a side was not measured")
    print(f"\ndefault / huddle: geometric mean {geometric_mean(over_default):.2f} of {len(over_default)} points")
    worst, where = min(over_better)
    print(f"better of tuned and han / huddle: least {worst:.2f}, at {' '.join(map(str, where))}")
    print(f"predicted against measured: half of {len(errors)} points are off by more than "
          f"{100 * statistics.median(errors):.0f} %")


if __name__ == "__main__":
    main()
