#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Prints the results of tests/lab/hosts_allgathers.sh as a table: hosts_allgathers_result.py TIMES RATE.

TIMES has lines of LAYOUT SENDING ROUND ALGORITHM CALL BLOCK NS. RATE is the rate of the links, such as 100mbit. The
table has the median of all calls with the quartiles in parentheses, and the order of the algorithms, in which "="
means that the difference is not significant by a sign test.
"""
import collections
import math
import pathlib
import statistics
import sys

HOSTS = 8
RANKS = {"eight": 8, "sixteen": 16}
ALGORITHMS = ("ring", "doubling", "bruck", "neighbor")
# Significance level of the sign test.
BY_CHANCE = 0.05


def is_before(ns, one, other):
    """Returns whether `one` is significantly faster than `other`. Compares adjacent calls, which had the same load."""
    calls = ns[one].keys() & ns[other].keys()
    ahead = sum(ns[one][call] < ns[other][call] for call in calls)
    as_good = sum(math.comb(len(calls), count) for count in range(ahead, len(calls) + 1))
    return as_good / 2 ** len(calls) <= BY_CHANCE


def order_of(ns):
    middle = {name: statistics.median(ns[name].values()) for name in ns}
    names = sorted(middle, key=middle.get)
    text = names[0]
    for before, name in zip(names, names[1:]):
        joint = ", " if is_before(ns, before, name) else " = "
        text += f"{joint}{name} {middle[name] / middle[names[0]]:.2f}"
    return text


def floor_ms(layout, block, bits_per_second):
    """Returns a lower bound: the time in which each foreign block passes the link of a host once."""
    foreign = RANKS[layout] * (HOSTS - 1) // HOSTS
    return 1e3 * foreign * block * 8 / bits_per_second


def main():
    points = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        layout, sending, one_round, algorithm, call, block, ns = line.split()
        points[layout, int(block), sending][algorithm][one_round, call] = float(ns)
    bits_per_second = 1e6 * float(sys.argv[2].removesuffix("mbit"))
    print(f"| ranks, block, messages | floor ms | {' | '.join(f'{name} ms' for name in ALGORITHMS)} | order |")
    print(f"|{'---|' * (len(ALGORITHMS) + 3)}")
    for (layout, block, sending), ns in sorted(points.items()):
        cells = []
        for name in ALGORITHMS:
            if len(ns[name]) < 2:
                sys.exit(f"{layout}, {block}, {sending}: {name} was measured {len(ns[name])} times, of 2 at least")
            low, middle, high = statistics.quantiles(ns[name].values(), n=4)
            cells.append(f"{middle / 1e6:.1f} ({low / 1e6:.1f} to {high / 1e6:.1f})")
        print(f"| {RANKS[layout]}, {block}, {sending} | {floor_ms(layout, block, bits_per_second):.1f} "
              f"| {' | '.join(cells)} | {order_of(ns)} |")


if __name__ == "__main__":
    main()
