# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads and draws the results of `huddle bench`.

    import huddle
    results = huddle.load("results.json")
    results                       # in a notebook: the summary and the heat map
    results.latency("allreduce")  # a matplotlib figure
"""
from .results import BadResults, Results, load

__all__ = ["BadResults", "Results", "load"]
__version__ = "0.1.0"
