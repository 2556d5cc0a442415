# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Draws the collectives of a job with the longest time, divided into waiting and transfer."""
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from ..words import counted, short_number, size_text, time_text
from .canvas import in_our_style, new_figure, plain_axes
from .palette import LIGHT

MOST_BARS = 10  # so that the picture fits on one screen; the tables have all rows
WIDTH_INCHES, BAR_INCHES, FRAME_INCHES = 6.4, 0.42, 0.9
PARTS = (("waiting", "peer"), ("transfer", "huddle"), ("not divided", "native"))
UNITS = ((1, "seconds"), (1e3, "milliseconds"), (1e6, "microseconds"))


def longest(job):
    """Returns the rows with the longest mean time as (communicator, row), longest first."""
    rows = [(communicator, row) for communicator in job.communicators for row in communicator.rows]
    return sorted(rows, key=lambda one: -one[1].seconds.mean)[:MOST_BARS]


@in_our_style
def job_figure(job, palette=LIGHT):
    """Returns the figure with one bar for each row of longest(job). Its length is the mean time of the ranks."""
    rows = longest(job)
    figure = new_figure(WIDTH_INCHES, BAR_INCHES * len(rows) + FRAME_INCHES)
    axes = figure.subplots()
    plain_axes(axes, palette)
    scale, unit = _unit(max(row.seconds.mean for _, row in rows))
    places = range(len(rows))
    ends = [0.0] * len(rows)
    for label, color in PARTS:
        lengths = [scale * _part(row, label) for _, row in rows]
        axes.barh(places, lengths, 0.62, left=ends, color=getattr(palette, color))
        ends = [end + length for end, length in zip(ends, lengths)]
    for place, (_, row) in enumerate(rows):
        axes.annotate(time_text(1e9 * row.seconds.mean), (ends[place], place), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=8, color=palette.ink)
    axes.set_xlim(0, 1.15 * max(*ends, 1e-9))  # leaves space for the time beside the longest bar
    _dress(axes, palette, rows, unit)
    return figure


def _unit(most_seconds):
    """Returns the unit in which the longest bar has a length of at least 1, and its number in a second."""
    return next((unit for unit in UNITS if most_seconds * unit[0] >= 1), UNITS[-1])


def _part(row, label):
    if row.waiting is None:
        return row.seconds.mean if label == "not divided" else 0
    return {"waiting": row.waiting.mean, "transfer": row.transfer.mean, "not divided": 0}[label]


def _label(communicator, row):
    size = f" of {size_text(round(row.bytes_per_call))}" if row.bytes_per_call else ""
    ranks = counted(len(communicator.ranks), "rank")
    return f"{row.operation}{size}\n{ranks}, {row.how if row.is_handled else 'MPI'}"


def _dress(axes, palette, rows, unit):
    axes.yaxis.set_major_locator(FixedLocator(range(len(rows))))
    axes.set_yticklabels([_label(*one) for one in rows])
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    axes.set_xlabel(f"{unit}, mean over the ranks", color=palette.ink)
    axes.grid(True, axis="x", color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    shown = PARTS if any(row.waiting is None for _, row in rows) else PARTS[:2]
    axes.legend([Patch(color=getattr(palette, color)) for _, color in shown], [label for label, _ in shown],
                frameon=False, labelcolor=palette.ink, loc="lower left", bbox_to_anchor=(0, 1), fontsize=9, ncols=3,
                handlelength=1.6, borderaxespad=0.2)
