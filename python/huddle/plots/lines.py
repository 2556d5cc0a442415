# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Draws the time of a cache line between cores, and between the hardware threads of a core."""
import bisect
import itertools

from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from ..words import short_number
from .canvas import in_our_style, new_figure
from .palette import LIGHT

MOST_WITH_NUMBERS = 16
NUMBERED_CELL_INCHES = 0.36
OVERLAP = 0.2  # of a row with the next, so that there is no seam between them
SMALLEST_INCHES, LARGEST_INCHES = 1.5, 5.2


@in_our_style
def lines_figure(machine, palette=LIGHT):
    """Returns a matrix of times, with numbers in the cells if there is space, or None without measurements. The
    diagonal has the time between the hardware threads of a core, if it has several."""
    if machine is None or machine.pairs is None or len(machine.pairs.processors) < 2:
        return None
    processors, times = machine.pairs.processors, with_threads(machine)
    count = len(processors)
    side = min(max(NUMBERED_CELL_INCHES * count + 0.5, SMALLEST_INCHES), LARGEST_INCHES)
    figure = new_figure(side, side)
    axes = figure.add_subplot(aspect="equal")
    axes.set_xlim(0, count)
    axes.set_ylim(count, 0)
    known = sorted({time for row in times for time in row if time > 0})
    for row, of_row in enumerate(times):
        if count <= MOST_WITH_NUMBERS:
            _draw_cells(axes, row, of_row, known, palette)
        else:
            _draw_runs(axes, row, of_row, known, palette)
    _name(axes, processors, palette)
    return figure


def with_threads(machine):
    """Returns the latencies of the pairs, with that between hardware threads on the diagonal (0 if a core has one)."""
    times = [list(row) for row in machine.pairs.one_way_ns]
    between_threads = next((line.one_way_ns for line in machine.lines if line.level == "core"), 0)
    cores = next((level.groups for level in machine.levels if level.name == "core"), [])
    threads = {processor: len(core) for core in cores for processor in core}
    for place, processor in enumerate(machine.pairs.processors):
        if threads.get(processor, 1) > 1 and times[place][place] == 0:
            times[place][place] = between_threads
    return times


def _step(time, known, palette):
    """Returns the colour step of a time: logarithmic between the shortest and the longest time."""
    steps = len(palette.ramp)
    least, most = known[0], known[-1]
    if most < 1.05 * least:
        return 1
    edges = [least * (most / least) ** (number / steps) for number in range(1, steps)]
    return bisect.bisect_right(edges, time)


def _draw_cells(axes, row, times, known, palette):
    for column, time in enumerate(times):
        if time <= 0:
            continue
        step = _step(time, known, palette)
        axes.add_patch(Rectangle((column + 0.03, row + 0.03), 0.94, 0.94,
                                 facecolor=palette.ramp[step], edgecolor="none"))
        axes.text(column + 0.5, row + 0.52, short_number(round(time)), ha="center", va="center",
                  fontsize=8, color=palette.ramp_inks[step])


def _draw_runs(axes, row, times, known, palette):
    """Draws adjacent cells of one colour as one rectangle, because a large machine has tens of thousands of cells."""
    steps = [None if time <= 0 else _step(time, known, palette) for time in times]
    column = 0
    for step, run in itertools.groupby(steps):
        width = len(list(run))
        if step is not None:
            axes.add_patch(Rectangle((column, row), width, 1 + OVERLAP,
                                     facecolor=palette.ramp[step], edgecolor="none"))
        column += width


def _name(axes, processors, palette):
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, labelcolor=palette.ink, labelsize=8)
    axes.xaxis.tick_top()
    count = len(processors)
    if count <= MOST_WITH_NUMBERS:
        shown = list(range(count))
    else:
        shown = [int(place) for place in MaxNLocator(8, integer=True).tick_values(0, count - 1)
                 if 0 <= place < count]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks([place + 0.5 for place in shown], [str(processors[place]) for place in shown])
