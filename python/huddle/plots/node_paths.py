# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Draws the rate of each path inside a node by size, and the effect of UCX's settings on collectives."""
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from ..words import short_number, size_text
from .canvas import in_our_style, new_figure, plain_axes
from .palette import LIGHT

SIZE_INCHES = (6.4, 3.6)
BARS = (("without", "native"), ("with settings", "peer"), ("huddle", "huddle"))
BAR_WIDTH = 0.26


@in_our_style
def paths_figure(paths, palette=LIGHT):
    """Returns the figure of GB/s per rank. Larger marks are the fastest path of a size."""
    figure = new_figure(*SIZE_INCHES)
    axes = figure.subplots()
    places = list(range(len(paths.points)))
    colors = (palette.huddle, palette.peer, palette.floor, palette.native)
    marks = "os^D"
    for number, name in enumerate(paths.names):
        color, mark = colors[number % len(colors)], marks[number % len(marks)]
        known = [(place, point) for place, point in zip(places, paths.points) if name in point.ns]
        axes.plot([place for place, _ in known], [point.gb_per_s(name) for _, point in known],
                  color=color, marker=mark, markersize=4.5, linewidth=1.6, label=name)
        best = [(place, point) for place, point in known if point.fastest == name]
        axes.plot([place for place, _ in best], [point.gb_per_s(name) for _, point in best],
                  color=color, marker=mark, markersize=9, linestyle="")
    _dress(axes, palette, "GB/s per rank")
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda place, _: size_text(paths.points[round(place)].size_bytes)))
    return figure


@in_our_style
def ucx_figure(check, operation, size_bytes, palette=LIGHT):
    """Returns the figure of speedups over the MPI without the settings, by number of ranks, with intervals."""
    figure = new_figure(*SIZE_INCHES)
    axes = figure.subplots()
    of_ranks = [(runs, point) for runs in check.runs for point in runs.points
                if (point.operation, point.size_bytes) == (operation, size_bytes)]
    places = list(range(len(of_ranks)))
    for number, (label, color) in enumerate(BARS):
        ratios = [_ratio(point, label) for _, point in of_ranks]
        heights = [middle for _, middle, _ in ratios]
        spans = [[middle - low for low, middle, _ in ratios], [high - middle for _, middle, high in ratios]]
        axes.bar([place + (number - 1) * BAR_WIDTH for place in places], heights, BAR_WIDTH * 0.92,
                 color=getattr(palette, color), label=label, yerr=spans,
                 error_kw={"ecolor": palette.ink, "elinewidth": 1, "capsize": 2})
    axes.axhline(1, color=palette.quiet, linewidth=0.8)
    _dress(axes, palette, "times as fast")
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: _ranks_text(of_ranks[round(place)][0])))
    return figure


def _ratio(point, label):
    if label == "without":
        return (1, 1, 1)
    ratio = point.huddle_ratio if label == "huddle" else point.with_ratio
    return (ratio.low, ratio.middle, ratio.high)


def _ranks_text(runs):
    return f"{runs.ranks} ranks" + (", oversubscribed" if runs.oversubscribed else "")


def _dress(axes, palette, what):
    plain_axes(axes, palette)
    axes.grid(True, axis="y", color=palette.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_ylabel(what, color=palette.ink)
    axes.set_ylim(0, 1.25 * axes.get_ylim()[1])
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(frameon=False, labelcolor=palette.ink, loc="upper left", fontsize=9, ncols=4,
                handlelength=1.6, borderaxespad=0.2)
