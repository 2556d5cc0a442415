#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""What tests/lab/hosts_small.sh measured, as a table: hosts_small_result.py TIMES

TIMES has lines of MPI SIDE OPERATION BYTES NS, one a job, each the median of its calls. Status 1: somewhere
huddle's least is more than the MPI's own over 0.9. Of many jobs in turns the least says what a call takes
where nothing comes between; their median also what else ran.
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
        ns[mpi, operation, int(size), side].append(float(time))
    points = sorted({key[:3] for key in ns})
    print("| MPI, operation, bytes | jobs | native us, least | huddle us, least | ratio of the least | of the medians |")
    print("|---|---|---|---|---|---|")
    ratios = []
    for point in points:
        native, huddle = ns[(*point, "native")], ns[(*point, "huddle")]
        if not native or not huddle:
            sys.exit(f"there is nothing to compare: {' '.join(map(str, point))}: a side was not measured")
        ratio = min(native) / min(huddle)
        of_medians = statistics.median(native) / statistics.median(huddle)
        ratios.append((ratio, of_medians, point))
        print(f"| {', '.join(map(str, point))} | {len(native)}, {len(huddle)} | {min(native) / 1e3:.2f} "
              f"| {min(huddle) / 1e3:.2f} | {ratio:.2f} | {of_medians:.2f} |")
    if not ratios:
        sys.exit("there is nothing to compare: nothing was measured")
    worst, _, where = min(ratios)
    print(f"\nnative / huddle: least {worst:.2f}, at {' '.join(map(str, where))}; "
          f"of the medians {min(of_medians for _, of_medians, _ in ratios):.2f}")
    return 0 if worst >= LEAST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
