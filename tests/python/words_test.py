# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
import pytest
from huddle.words import counted, joined, ratio_text, size_text, time_text


@pytest.mark.parametrize("size_bytes, said", [
    (0, "0"), (8, "8"), (1023, "1023"), (1024, "1K"), (1536, "1.5K"), (4 << 20, "4M"), (3 << 40, "3T")])
def test_sizes(size_bytes, said):
    assert size_text(size_bytes) == said


@pytest.mark.parametrize("nanoseconds, said", [
    (47.23, "47.2 ns"), (999.4, "999 ns"), (999.6, "1 µs"), (1630, "1.63 µs"), (12e6, "12 ms"),
    (2.5e9, "2.5 s"), (3000e9, "3000 s")])
def test_times(nanoseconds, said):
    assert time_text(nanoseconds) == said


@pytest.mark.parametrize("ratio, said", [(0.905, "0.91"), (1, "1.00"), (9.99, "9.99"), (12.34, "12.3"),
                                         (140.2, "140")])
def test_ratios(ratio, said):
    assert ratio_text(ratio) == said


def test_lists_and_counts():
    assert joined(["a"]) == "a"
    assert joined(["a", "b", "c"]) == "a, b and c"
    assert counted(1, "rank") == "1 rank"
    assert counted(2, "rank") == "2 ranks"
