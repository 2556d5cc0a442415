# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Medians, and intervals that follow from the order of the samples alone.

The same formulas as those of the benchmark: whatever the distribution, an interval holds the true
median with the confidence that is asked for, and no random draw is needed for it.
"""
import math
import statistics
from typing import NamedTuple


class Interval(NamedTuple):
    """A figure, and between which two it lies in truth."""
    low: float
    middle: float
    high: float


def greatest_rank(count, tail):
    """How many samples may be left out at each end: the most for which fewer than so many of
    `count` tosses of a coin are heads with a likelihood of `tail` at most."""
    fewer = 0.0
    for rank in range(count):
        fewer += math.comb(count, rank) / 2**count
        if fewer > tail:
            return rank
    return count


def median_interval(samples, confidence):
    """Of too few samples for that confidence: from the least to the greatest."""
    ordered = sorted(samples)
    from_end = max(greatest_rank(len(ordered), (1 - confidence) / 2), 1)
    return Interval(ordered[from_end - 1], statistics.median(ordered), ordered[-from_end])


def batches_interval(batches, confidence):
    """A batch is one observation, by its median: samples within one are too much alike."""
    return median_interval([statistics.median(batch) for batch in batches], confidence)


def factor_between(one, other):
    """How many times the greater of the two is the lesser: 1 where they are equal."""
    return max(one / other, other / one)


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))
