# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The report: a self-contained HTML document without scripts."""
import html

from .machine_view import machine_section
from .plots.canvas import svg_element
from .plots.heat_map import NARROW, WIDE, heat_map_figure
from .plots.latency import latency_figure
from .plots.palette import LIGHT, RATIO_EDGES, STAND_INS, STEPS, step_of, variables
from .results import BELOW_BAR, PASSED, UNSTEADY
from .sentences import (candidate_text, command, doubts, heap_text, model_error_text, rivals_text,
                        setting_rows, summary, timing_text, why)
from .shell import whole_document
from .words import ratio_text, size_text, time_text

escape = html.escape


def page(results):
    """Returns the HTML document."""
    title = f"huddle bench: {results.machine_name}, {heap_text(results)}"
    body = "\n".join([_head(results), _ratios(results), _machine(results), _operations(results),
                      _reproduce(results), _foot(results)])
    return whole_document(title, body)


def notebook_view(results):
    """Returns the summary and the heat map, with fixed colours, because a notebook lacks the page's style sheet."""
    svg = svg_element(heat_map_figure(results), f"heat-{id(results):x}", "ratio by operation and size")
    for name, color in variables(LIGHT):
        svg = svg.replace(f"var(--{name})", color)
    return (f'<div style="background:{LIGHT.paper};color:{LIGHT.ink};padding:1em">'
            f"<p>{escape(summary(results))}</p>{svg}</div>")


def _head(results):
    items = "".join(f"<li>{escape(doubt)}</li>" for doubt in doubts(results))
    error = model_error_text(results)
    return (f"<header><h1>huddle ({heap_text(results)}) against {escape(rivals_text(results))}</h1>\n"
            f'<p class="summary">{escape(summary(results))}</p>\n'
            + (f'<p class="note">{escape(error)}</p>\n' if error else "")
            + (f'<ul class="doubts note">{items}</ul>' if items else "") + "</header>")


def _ratios(results):
    # The style sheet shows one of the two, depending on the width of the window.
    maps = "\n".join(f'<figure class="heat {name}">'
                     + svg_element(heat_map_figure(results, STAND_INS, shape), f"heat-{name}",
                                   "Ratio by operation and size; the tables below have the same figures")
                     + "</figure>" for name, shape in (("wide", WIDE), ("narrow", NARROW)))
    links = "".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in results.operations)
    return ('<section id="ratios"><h2>How many times faster, by operation and size</h2>\n'
            f"{maps}\n{_legend(results)}\n"
            f"<nav>{links}</nav></section>")


def _legend(results):
    runs = "".join(f'<i style="background: var(--steps-{step})"></i>' for step in range(STEPS))
    marks = "".join(f'<li><b class="marks">{mark}</b> {escape(text)}</li>' for mark, text in (
        (UNSTEADY, "unsteady"), (PASSED, "calls left to the MPI"), (BELOW_BAR, "slower in every attempt")))
    return (f'<p class="note">{escape(_samples_text(results))}</p>'
            f'<ul class="steps"><li>slower, {ratio_text(RATIO_EDGES[0])} or less</li>'
            f'<li class="run">{runs}</li><li>faster, {ratio_text(RATIO_EDGES[-1])} or more; '
            f"the middle is within 5 % of equal</li>{marks}</ul>")


def _samples_text(results):
    """Returns the units of the heat map, and the number of samples behind each cell."""
    batches = sorted({point.batches for point in results.points})
    number = f"{batches[0]}" if len(batches) == 1 else f"{batches[0]} to {batches[-1]}"
    return (f"Columns: size in bytes. Each cell is the time with the MPI divided by the time with huddle, from "
            f"{number} batches of calls of each; the last column has the geometric means of the rows.")


def _machine(results):
    return f'<section id="machine"><h2>The machine</h2>\n{machine_section(results)}</section>'


def _operations(results):
    confidence = f"{results.settings.confidence * 100:g} %"
    floors = any(point.floor_ns for point in results.points)
    note = (f"{timing_text(results)}; bands and brackets contain the true "
            f"median with {confidence} confidence. Hollow marks are unsteady points.")
    if results.has_peers:
        note += (f" The dashed line is {results.under}'s own collective, from the few samples by which the best "
                 "MPI was selected.")
    if floors:
        note += (" The floor is the shortest time that the calibrated figures allow: the latency of a cache "
                 "line to the farthest rank, or the time in which one rank can receive its bytes.")
    parts = "\n".join(_operation(results, operation) for operation in results.operations)
    return (f'<section id="operations"><h2>Operation by operation</h2>\n'
            f'<p class="note">{escape(note)}</p>\n{parts}</section>')


def _operation(results, operation):
    svg = svg_element(latency_figure(results, operation, STAND_INS), operation,
                      f"{operation}: times and ratio by size; the table beside it has the figures")
    return (f'<article class="operation" id="{escape(operation)}"><div><h3>{escape(operation)}</h3>'
            f'<p class="sub">{ratio_text(results.mean_ratio(operation))} times as fast in the geometric mean</p>'
            f"<figure>{svg}</figure></div>\n"
            f'<div class="scroll">{_table(results, results.of(operation))}</div></article>')


def _table(results, points):
    floors = any(point.floor_ns for point in points)
    heads = [("size", "")]
    if results.has_peers:
        heads += [(results.under, "aside"), ("best MPI", ""), ("best is", "words aside")]
    else:
        heads += [("MPI", "")]
    heads += [("huddle", "")] + ([("floor", "aside")] if floors else [])
    heads += [("ratio", ""), ("interval", "")]
    head = "".join(f'<th scope="col"{_class(name)}>{escape(text)}</th>' for text, name in heads)
    rows = "\n".join(_row(results, point, floors) + _choice(point, len(heads))
                     for point in points)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"


def _row(results, point, floors):
    step = step_of(point.ratio.middle)
    cells = [("", size_text(point.size_bytes) if point.size_bytes else "–")]
    cells += [("aside", time_text(results.native_ns(point)))] if results.has_peers else []
    cells += [("", time_text(point.native_ns.middle))]
    cells += [("words aside", escape(point.rival))] if results.has_peers else []
    cells += [("", time_text(point.huddle_ns.middle))]
    if floors:
        cells += [("aside", time_text(point.floor_ns) if point.floor_ns else "–")]
    cells += [("ratio", f'<span style="background: var(--steps-{step}); color: '
               f'var(--step-inks-{step})">{ratio_text(point.ratio.middle)}</span>'
               f'<b class="marks">{point.marks}</b>'),
              ("", f"{ratio_text(point.ratio.low)}–{ratio_text(point.ratio.high)}")]
    kind = ' class="chosen"' if point.choice else ""
    return f"<tr{kind}>" + "".join(f"<td{_class(name)}>{text}</td>" for name, text in cells) + "</tr>"


def _choice(point, columns):
    """Returns a row below the figures with the choice, which is too long for a column."""
    if point.choice is None:
        return ""
    return (f'<tr class="why"><td></td><td colspan="{columns - 1}">'
            f"{escape(candidate_text(point.choice.chosen))} <small>{escape(why(point))}</small></td></tr>")


def _class(name):
    return f' class="{name}"' if name else ""


def _reproduce(results):
    rows = "\n".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
                     for name, value in setting_rows(results))
    hints = ["Both sides run in the same job, with the same buffers, alternately; data change from call to "
             "call, and results are checked on every rank. The root changes from call to call."]
    if results.has_peers and not results.settings.peers:
        hints.append("DIR is the folder in which bench/peers DIR has installed the MPIs.")
    hints.append(f"{command(results).rsplit(' ', 1)[-1]} then contains every sample; 'huddle report' draws it.")
    return ('<section id="reproduce"><h2>How to repeat the measurement</h2>\n'
            f"<pre>{escape(command(results))}</pre>\n"
            f'<p class="note">{escape(" ".join(hints))}</p>\n'
            f'<table class="plain"><tbody>{rows}</tbody></table></section>')


def _foot(results):
    return f"<footer>Measured by huddle {escape(results.huddle)}; drawn by huddle report.</footer>"
