# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Compares the statistics with the values that huddle bench wrote."""
import json
import random
import statistics

import pytest
from huddle.statistics import batches_interval, geometric_mean, greatest_rank, median_interval
from sample import MEASURED, SEED


def test_intervals_match_the_benchmark():
    points = json.loads(MEASURED.read_text(encoding="utf-8"))["points"]
    for point in points:
        ratios = [statistics.median(native) / statistics.median(huddle) for native, huddle in
                  zip(point["native_batches_ns"], point["huddle_batches_ns"])]
        estimate = point["estimate"]
        assert median_interval(ratios, 0.95) == pytest.approx(
            (estimate["low"], estimate["ratio"], estimate["high"]))
        assert batches_interval(point["huddle_batches_ns"], 0.95).middle == pytest.approx(
            point["huddle_ns"])


def test_ranks_match_published_tables():
    # The extremes of 8 samples contain the median with 99.2 % confidence, those of 5 with less than 95 %.
    assert [greatest_rank(count, 0.025) for count in (5, 6, 8, 9, 20)] == [0, 1, 1, 2, 6]


def test_intervals_contain_the_true_median_with_the_given_confidence():
    draw = random.Random(SEED)
    held = 0
    for _ in range(1000):
        interval = median_interval([draw.expovariate(1) for _ in range(21)], 0.95)
        held += interval.low <= 0.6931 <= interval.high
    assert held > 930


def test_geometric_mean():
    assert geometric_mean([0.5, 2]) == pytest.approx(1)
    assert geometric_mean([3]) == pytest.approx(3)
