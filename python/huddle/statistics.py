# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Medians, and their confidence intervals from order statistics.

The formulas are those of the benchmark. An interval contains the true median with the given confidence for any
distribution, without random resampling.
"""
import math
import statistics
from typing import NamedTuple


class Interval(NamedTuple):
    """A value with its confidence interval."""
    low: float
    middle: float
    high: float


def greatest_rank(count, tail):
    """Returns the largest r for which the probability of fewer than r heads in `count` coin tosses is at most `tail`.
    The interval from the r-th smallest to the r-th largest sample contains the median with confidence 1 - 2 * tail."""
    fewer = 0.0
    for rank in range(count):
        fewer += math.comb(count, rank) / 2**count
        if fewer > tail:
            return rank
    return count


def median_interval(samples, confidence):
    """Returns the median and its interval. With too few samples the interval is from the minimum to the maximum."""
    ordered = sorted(samples)
    from_end = max(greatest_rank(len(ordered), (1 - confidence) / 2), 1)
    return Interval(ordered[from_end - 1], statistics.median(ordered), ordered[-from_end])


def batches_interval(batches, confidence):
    """Returns the interval of the batches' medians, because samples within a batch are not independent."""
    return median_interval([statistics.median(batch) for batch in batches], confidence)


def factor_between(one, other):
    """Returns the ratio of the greater to the lesser value: 1 if they are equal."""
    return max(one / other, other / one)


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))
