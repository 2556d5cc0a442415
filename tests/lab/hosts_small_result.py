#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Prints the results of tests/lab/hosts_small.sh as a table: hosts_small_result.py TIMES

TIMES has lines of MPI SIDE OPERATION BYTES NS, one per job, each the 10th percentile of its calls, because a single
call can return at once if the other rank was late. Exits with status 1 if the median of the jobs with huddle exceeds
the native median divided by 0.9 at any point.
"""
import collections
import pathlib
import statistics
import sys

LEAST_RATIO = 0.9


def main():
    ns = collections.defaultdict(list)
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        mpi, side, operation, size, time = line.split()
        if (operation, size) != ("allgather", "8"):  # less than one number per rank
            ns[mpi, operation, int(size), side].append(float(time))
    points = sorted({key[:3] for key in ns})
    print("| MPI, operation, bytes | jobs | native us | huddle us | native / huddle |")
    print("|---|---|---|---|---|")
    ratios = []
    for point in points:
        native, huddle = ns[(*point, "native")], ns[(*point, "huddle")]
        if not native or not huddle:
            sys.exit(f"there is nothing to compare: {' '.join(map(str, point))}: a side was not measured")
        ratio = statistics.median(native) / statistics.median(huddle)
        ratios.append((ratio, point))
        print(f"| {', '.join(map(str, point))} | {len(native)}, {len(huddle)} | {statistics.median(native) / 1e3:.2f} "
              f"| {statistics.median(huddle) / 1e3:.2f} | {ratio:.2f} |")
    if not ratios:
        sys.exit("there is nothing to compare: nothing was measured")
    worst, where = min(ratios)
    print(f"\nnative / huddle: least {worst:.2f}, at {' '.join(map(str, where))}")
    return 0 if worst >= LEAST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
