# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Draws the times of one operation by size, and below them the ratios."""
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from ..words import short_number, size_text, time_text
from .canvas import in_our_style, new_figure, plain_axes
from .palette import LIGHT

SIZE_INCHES = (4.9, 3.9)
MOST_TICKS = 6


@in_our_style
def latency_figure(results, operation, palette=LIGHT):
    """Returns the figure. Bands are confidence intervals, hollow marks are unsteady points."""
    figure = new_figure(*SIZE_INCHES)
    times, ratios = figure.subplots(2, 1, sharex=True, height_ratios=(2.1, 1))
    points = results.of(operation)
    places = _places(points)
    for curve in _curves(results, points, palette):
        curve.draw(times, places)
    _mark_unsteady(times, places, points, palette)
    _draw_ratios(ratios, places, points, palette)
    _dress(times, ratios, places, points, palette)
    return figure


class _Curve:
    def __init__(self, label, color, style, marker, middle, band=None):
        self.label, self.color, self.style, self.marker = label, color, style, marker
        self.middle, self.band = middle, band

    def draw(self, axes, places):
        axes.plot(places, self.middle, color=self.color, linestyle=self.style, linewidth=1.6,
                  marker=self.marker, markersize=4.5, label=self.label, markeredgewidth=1.2)
        if self.band:
            lows, highs = zip(*self.band)
            axes.fill_between(places, lows, highs, color=self.color, alpha=0.18, linewidth=0)
        if len(places) == 1:  # a band has no width there
            axes.hlines(self.middle, -0.4, 0.4, color=self.color, linestyle=self.style, linewidth=1.2)


def _curves(results, points, palette):
    rivals_name = "best MPI" if results.has_peers else results.under
    if all(point.floor_ns for point in points):
        yield _Curve("floor", palette.floor, ":", "", [point.floor_ns for point in points])
    if results.has_peers and all(results.under in point.mpis_ns for point in points):
        yield _Curve(results.under, palette.native, "--", "v",
                     [results.native_ns(point) for point in points])
    yield _Curve(rivals_name, palette.peer, "-", "s", *_with_band(point.native_ns for point in points))
    yield _Curve("huddle", palette.huddle, "-", "o", *_with_band(point.huddle_ns for point in points))


def _with_band(intervals):
    intervals = list(intervals)
    return [one.middle for one in intervals], [(one.low, one.high) for one in intervals]


def _places(points):
    """Returns equidistant positions of the points, including operations that move no data."""
    return list(range(len(points)))


def _draw_ratios(axes, places, points, palette):
    axes.axhline(1, color=palette.quiet, linewidth=0.8)
    axes.fill_between(places, [point.ratio.low for point in points],
                      [point.ratio.high for point in points], color=palette.huddle, alpha=0.2,
                      linewidth=0)
    axes.plot(places, [point.ratio.middle for point in points], color=palette.huddle, linewidth=1.4)
    for place, point in zip(places, points):
        axes.errorbar(place, point.ratio.middle,
                      yerr=[[point.ratio.middle - point.ratio.low],
                            [point.ratio.high - point.ratio.middle]],
                      color=palette.huddle, linewidth=1.1, capsize=2, marker="o", markersize=4.5,
                      markerfacecolor=palette.huddle if point.stable else palette.paper)


def _scale_times(axes, places):
    """Scales the axis of times: linear from zero for a single size, or else logarithmic."""
    if len(places) == 1:
        axes.set_ylim(0, 1.5 * axes.get_ylim()[1])
        axes.yaxis.set_major_locator(MaxNLocator(4))
        return
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    # Less than two decades need more ticks than the powers of ten.
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1,) if high / low > 100 else (1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())


def _mark_unsteady(axes, places, points, palette):
    for place, point in zip(places, points):
        if not point.stable:
            axes.plot([place], [point.huddle_ns.middle], marker="o", markersize=4.5, linestyle="",
                      color=palette.huddle, markerfacecolor=palette.paper, markeredgewidth=1.2)


def _name_sizes(axis, places, points):
    """Labels the axis of sizes. Operations that move no data have no label."""
    named = [place for place in places if points[place].size_bytes > 0]
    every = -(-len(named) // (2 * MOST_TICKS)) if named else 1
    axis.set_major_locator(FixedLocator(named[::every]))
    axis.set_major_formatter(FuncFormatter(lambda place, _: size_text(points[round(place)].size_bytes)))


def _dress(times, ratios, places, points, palette):
    for axes in (times, ratios):
        plain_axes(axes, palette)
        axes.grid(True, axis="y", color=palette.grid, linewidth=0.7)
        axes.set_axisbelow(True)
    _scale_times(times, places)
    times.yaxis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value)))
    times.tick_params(labelbottom=False)
    times.legend(frameon=False, labelcolor=palette.ink, loc="upper left", fontsize=9,
                 handlelength=2.2, borderaxespad=0.2)
    ratios.set_ylabel("ratio", color=palette.ink)
    ratios.yaxis.set_major_locator(MaxNLocator(4))
    ratios.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
    _name_sizes(ratios.xaxis, places, points)
    ratios.set_xlim(-0.4, len(places) - 0.6)
