# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads the output of HUDDLE_VERIFY."""
import re

# The last line of a rank.
SUMMARY = re.compile(r"^huddle: verify: rank (\d+): ([\d,]+) calls compared, ([\d,]+) with different results, "
                     r"([\d,]+) not compared(?: \((.*)\))?$", re.MULTILINE)
COUNTED = re.compile(r"([^,:]+): ([\d,]*\d)(?:, |$)")


def number(text):
    return int(text.replace(",", ""))


def summaries(outcome):
    """Returns by rank: calls compared, calls that differ, and the others by reason."""
    return {int(rank): (number(compared), number(differ),
                        {reason: number(calls) for reason, calls in COUNTED.findall(reasons)})
            for rank, compared, differ, _, reasons in SUMMARY.findall(outcome.err)}


def is_without_difference(line):
    """Returns whether this is the last line of a rank without a difference."""
    found = SUMMARY.match(line)
    return found is not None and number(found[3]) == 0


def agrees(bench, what, outcome):
    """Expects no difference, and that rank 0 prints how many calls it compared."""
    counted = summaries(outcome)
    bench.expect(0 in counted, f"{what}: rank 0 does not print what was compared\n{outcome.tail()}")
    lines = [line for line in outcome.err.splitlines() if line.startswith("huddle: verify: ")]
    bench.expect(len(lines) == len(counted), f"{what}: a difference is reported: {lines}")
    bench.expect(all(differ == 0 for _, differ, _ in counted.values()), f"{what}: {counted}")


def ends_with(bench, what, outcome, expected, rank=0):
    counted = summaries(outcome).get(rank)
    bench.expect(counted == expected,
                 f"{what}: rank {rank} counts {counted}, not {expected}\n{outcome.tail()}")
