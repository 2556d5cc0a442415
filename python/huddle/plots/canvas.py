# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Common parts of all figures: fonts and frames, and the conversion to an SVG element of a page."""
import html
import io
import re

import matplotlib
from matplotlib.figure import Figure

from .palette import STAND_INS, variables

# Keeps text as text elements: screen readers and search find it, and it has the colours of the page.
SETTINGS = {"font.family": "sans-serif", "font.size": 9, "svg.fonttype": "none",
            "svg.hashsalt": "huddle", "axes.linewidth": 0.7, "axes.unicode_minus": True}


def new_figure(width_inches, height_inches):
    """Returns a figure outside of pyplot, without a window. The caller owns it."""
    return Figure(figsize=(width_inches, height_inches), layout="constrained")


def in_our_style(draw):
    """Decorator: draws with SETTINGS, without changing the caller's settings of matplotlib."""
    def drawn(*args, **named):
        with matplotlib.rc_context(SETTINGS):
            return draw(*args, **named)
    drawn.__doc__ = draw.__doc__
    return drawn


def plain_axes(axes, palette):
    """Makes the frame and ticks of the axes unobtrusive."""
    axes.set_facecolor("none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(palette.quiet)
    axes.tick_params(which="both", colors=palette.quiet, labelcolor=palette.ink, length=3, width=0.7)
    axes.tick_params(which="minor", length=0)


def svg_element(figure, name, title):
    """Returns the figure as an SVG element of a page. `name` makes its ids unique, `title` is its alternative text.
    Replaces stand-in colours by the variables of the page."""
    out = io.StringIO()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(out, format="svg", transparent=True,
                       metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = out.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{name}-", text)
    for variable, stand_in in variables(STAND_INS):
        text = text.replace(stand_in, f"var(--{variable})")
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups()
    head = (f'<svg class="plot" role="img" aria-label="{html.escape(title)}" '
            f'viewBox="0 0 {width} {height}" style="--width: {float(width) * 4 / 3:.0f}px" '
            'xmlns:xlink="http://www.w3.org/1999/xlink">')
    return re.sub(r"<svg.*?>", lambda _: head, text, count=1, flags=re.DOTALL)
