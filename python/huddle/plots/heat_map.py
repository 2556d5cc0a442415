# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""How many times faster huddle is, by operation and size."""
from matplotlib.patches import Rectangle

from ..words import ratio_text, size_text
from .canvas import in_our_style, new_figure
from .palette import LIGHT, step_of

CELL_INCHES = 0.47
ROW_INCHES = 0.27
NAME_INCHES = 1.55
MARGIN_INCHES = 0.35
GAP = 0.35  # of a cell, before the column of means
SMALLEST_FIGURE_INCHES = 3.2


@in_our_style
def heat_map_figure(results, palette=LIGHT):
    """Cells are coloured by the ratio, in steps; the last column is the mean of a row."""
    operations, columns = results.operations, _columns(results)
    width = len(columns) + GAP + 1
    figure = new_figure(max(NAME_INCHES + CELL_INCHES * width, SMALLEST_FIGURE_INCHES),
                        MARGIN_INCHES + ROW_INCHES * len(operations))
    axes = figure.add_subplot()
    axes.set_xlim(0, width)
    axes.set_ylim(len(operations), 0)
    for row, operation in enumerate(operations):
        for point in results.of(operation):
            _cell(axes, columns.index(point.size_bytes), row, point.ratio.middle, point.marks, palette)
        _cell(axes, len(columns) + GAP, row, results.mean_ratio(operation), "", palette, "bold")
    _name_rows_and_columns(axes, operations, columns, palette)
    return figure


def _columns(results):
    """Operations that move nothing have a column of their own where there are any."""
    return sorted({point.size_bytes for point in results.points})


def _cell(axes, x, y, ratio, marks, palette, weight="normal"):
    step = step_of(ratio)
    axes.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, facecolor=palette.steps[step],
                             edgecolor="none"))
    axes.text(x + 0.5, y + 0.52, ratio_text(ratio) + marks, ha="center", va="center",
              color=palette.step_inks[step], fontsize=8.5, fontweight=weight)


def _name_rows_and_columns(axes, operations, columns, palette):
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.xaxis.tick_top()
    names = [size_text(size) if size > 0 else "–" for size in columns]
    axes.set_xticks([*(place + 0.5 for place in range(len(columns))), len(columns) + GAP + 0.5],
                    [*names, "mean"])
    axes.set_yticks([place + 0.5 for place in range(len(operations))], operations)
    axes.tick_params(length=0, labelcolor=palette.ink, labelsize=9)
    axes.get_xticklabels()[-1].set_fontweight("bold")
