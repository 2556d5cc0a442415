# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Formats figures for readers, in the style of huddle's own output."""

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
                "eleven", "twelve")


def short_number(value):
    """Returns three significant digits without trailing zeros: 1.5, 48, 12.3, 1024."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def size_text(size_bytes):
    """Returns a size with a unit of powers of 1024: 64, 48K, 1.5G."""
    for unit in ("", "K", "M", "G"):
        if size_bytes < 1024:
            return short_number(size_bytes) + unit
        size_bytes /= 1024
    return short_number(size_bytes) + "T"


def time_text(nanoseconds):
    """Returns three significant digits and a unit: 47.2 ns, 1.63 µs, 12 ms."""
    for unit in ("ns", "µs", "ms"):
        if nanoseconds < 999.5:
            return f"{short_number(nanoseconds)} {unit}"
        nanoseconds /= 1000
    return f"{short_number(nanoseconds)} s"


def number_word(count):
    return NUMBER_WORDS[count] if count < len(NUMBER_WORDS) else str(count)


def counted(count, thing):
    """Returns a count with a noun: 1 point, 4 points."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def ratio_text(ratio):
    """Returns a ratio with three significant digits, at most two decimals: 1.24, 12.3, 140."""
    if ratio >= 99.5:
        return f"{ratio:.0f}"
    return f"{ratio:.1f}" if ratio >= 9.995 else f"{ratio:.2f}"


def joined(words):
    """Returns the words as a list: a, b and c."""
    words = list(words)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
