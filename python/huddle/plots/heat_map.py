# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Draws the heat map of ratios by operation and size."""
from dataclasses import dataclass

from matplotlib.patches import Rectangle

from ..words import ratio_text, size_text
from .canvas import in_our_style, new_figure
from .palette import LIGHT, step_of

MARGIN_INCHES = 0.35
GAP = 0.35  # before the column of means, in cells


@dataclass(frozen=True)
class Shape:
    """The dimensions of a map, and the place of its rows' names."""
    cell_inches: float
    row_inches: float
    name_inches: float  # width of the names beside the rows; 0: names are above the rows
    least_inches: float
    font_size: float
    label_size: float

    @property
    def is_named_above(self):
        return self.name_inches == 0

    @property
    def name_height(self):
        """The part of a row that its name above the cells needs."""
        return 0.42 if self.is_named_above else 0


WIDE = Shape(cell_inches=0.47, row_inches=0.27, name_inches=1.55, least_inches=3.2, font_size=8.5,
             label_size=9)
NARROW = Shape(cell_inches=0.35, row_inches=0.43, name_inches=0, least_inches=2.4, font_size=7.5,
               label_size=8)
LETTERS = 5  # of a ratio and its mark; longer ones get a smaller font


@in_our_style
def heat_map_figure(results, palette=LIGHT, shape=WIDE):
    """Returns the figure. The ratio determines the colour of a cell. The last column has the means of the rows."""
    operations, columns = results.operations, _columns(results)
    width = len(columns) + GAP + 1
    figure = new_figure(max(shape.name_inches + shape.cell_inches * width, shape.least_inches),
                        MARGIN_INCHES + shape.row_inches * len(operations))
    axes = figure.add_subplot()
    axes.set_xlim(0, width)
    axes.set_ylim(len(operations), 0)
    cells = _Cells(axes, shape, palette)
    for row, operation in enumerate(operations):
        for point in results.of(operation):
            cells.draw(columns.index(point.size_bytes), row, point.ratio.middle, point.marks)
        cells.draw(len(columns) + GAP, row, results.mean_ratio(operation), "", "bold")
    _name_columns(axes, columns, shape, palette)
    _name_rows(axes, operations, shape, palette)
    return figure


def _columns(results):
    """Returns the sizes of the columns. Operations that move no data have their own column."""
    return sorted({point.size_bytes for point in results.points})


class _Cells:
    def __init__(self, axes, shape, palette):
        self.axes, self.shape, self.palette = axes, shape, palette

    def draw(self, x, row, ratio, marks, weight="normal"):
        step = step_of(ratio)
        top, height = row + self.shape.name_height, 1 - self.shape.name_height
        self.axes.add_patch(Rectangle((x + 0.02, top + 0.04 * height), 0.96, 0.92 * height,
                                      facecolor=self.palette.steps[step], edgecolor="none"))
        text = ratio_text(ratio) + marks
        self.axes.text(x + 0.5, top + 0.52 * height, text, ha="center", va="center",
                       color=self.palette.step_inks[step], fontweight=weight,
                       fontsize=self.shape.font_size * min(1, LETTERS / len(text)))


def _name_columns(axes, columns, shape, palette):
    axes.set_facecolor("none")
    for side in axes.spines.values():
        side.set_visible(False)
    axes.xaxis.tick_top()
    names = [size_text(size) if size > 0 else "–" for size in columns]
    axes.set_xticks([*(place + 0.5 for place in range(len(columns))), len(columns) + GAP + 0.5],
                    [*names, "mean"])
    axes.tick_params(length=0, labelcolor=palette.ink, labelsize=shape.label_size)
    axes.get_xticklabels()[-1].set_fontweight("bold")


def _name_rows(axes, operations, shape, palette):
    if not shape.is_named_above:
        axes.set_yticks([place + 0.5 for place in range(len(operations))], operations)
        return
    axes.set_yticks([])
    for row, operation in enumerate(operations):
        axes.text(0.02, row + shape.name_height - 0.04, operation, ha="left", va="bottom",
                  color=palette.ink, fontsize=shape.label_size)
