# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Two pages about the time of messages inside a node: by each path, and by UCX without and with huddle's settings."""
import html
import statistics

from .plots.canvas import svg_element
from .plots.node_paths import paths_figure, ucx_figure
from .plots.palette import STAND_INS
from .shell import whole_document
from .words import counted, joined, ratio_text, size_text, time_text

escape = html.escape


def paths_page(paths):
    title = f"huddle paths: {paths.machine_name}"
    svg = svg_element(paths_figure(paths, STAND_INS), "paths",
                      "Rate of each path by size; the table below has the same figures")
    heads = ["message", *paths.names, "fastest"]
    heads += [f"UCX {version} takes" for version, _, _ in paths.points[0].by_ucx]
    rows = [_path_row(paths, point) for point in paths.points]
    doubt = "" if paths.is_measured else '<p class="note">Some of these figures are estimated, not measured.</p>'
    body = (f"<header><h1>Paths inside a node of {escape(paths.machine_name)}</h1>\n"
            f'<p class="summary">{escape(_winners(paths))}</p>{doubt}</header>\n'
            f'<section id="paths"><h2>GB/s per rank, {counted(paths.ranks, "rank")} at once</h2>\n'
            f"<figure>{svg}</figure>\n"
            '<p class="note">Large marks: the fastest path for that size. UCX compares paths by constants; '
            "beside the path that it selects is its time relative to the fastest path.</p>\n"
            f"{_table(heads, rows, aside=range(len(paths.names) + 2, len(heads)))}</section>\n"
            f"{_foot(paths.huddle, 'paths')}")
    return whole_document(title, body)


def _winners(paths):
    """Returns the fastest path by size as text, such as "Fastest path: copied; from 16K on: cma."."""
    text, before = "", None
    for point in paths.points:
        if before is None:
            text = f"Fastest path: {point.fastest}"
        elif point.fastest != before:
            text += f"; from {size_text(point.size_bytes)} on: {point.fastest}"
        before = point.fastest
    return text + "."


def _path_row(paths, point):
    fastest_ns = point.ns[point.fastest]
    cells = [size_text(point.size_bytes)]
    cells += [f"{point.gb_per_s(name):.3g}" if name in point.ns else "–" for name in paths.names]
    cells += [point.fastest]
    cells += [path if ns <= fastest_ns else f"{path} ({ratio_text(ns / fastest_ns)}×)"
              for _, path, ns in point.by_ucx]
    return cells


def ucx_page(check):
    title = f"huddle ucx --check: {check.machine_name}"
    strays = "".join(f"<li>{escape(sentence)} without huddle's settings</li>" for sentence in check.network_now)
    strays += "".join(f"<li>{escape(sentence)} with huddle's settings</li>"
                      for sentence in check.network_advised)
    head = (f"<header><h1>UCX {escape(check.ucx_version)} inside a node of {escape(check.machine_name)}</h1>\n"
            f'<p class="summary">{escape(_network_sentence(check))}</p>\n'
            + (f'<ul class="doubts note">{strays}</ul>' if strays else "") + "</header>\n")
    settings = _table(["setting", "value", "from"], check.settings, "plain")
    if check.untested:
        settings += ('<p class="note">Not tested, and printed as comments: each helps on some machines and hurts on '
                     f'others.</p>\n{_table(["setting", "value", "from"], check.untested, "plain")}')
    body = (head + "".join(_run_section(check, *one) for one in _largest(check))
            + "".join(_runs_section(runs) for runs in check.runs) + _program_section(check.program)
            + f'<section id="settings"><h2>The settings</h2>\n{settings}</section>\n'
            + _foot(check.huddle, "ucx --check"))
    return whole_document(title, body)


def _network_sentence(check):
    if not check.network_now:
        return "No message inside the node goes through a network device."
    if not check.network_advised:
        return "A network device carries messages inside the node; with huddle's settings, no message does."
    return "A network device carries messages inside the node, also with huddle's settings."


def _largest(check):
    """Returns the largest size of each operation, at which paths differ most."""
    largest = {}
    for runs in check.runs:
        for point in runs.points:
            largest[point.operation] = max(largest.get(point.operation, 0), point.size_bytes)
    return largest.items()


def _run_section(check, operation, size_bytes):
    svg = svg_element(ucx_figure(check, operation, size_bytes, STAND_INS), operation,
                      f"{operation}: times without the settings, with them and with huddle, by number of ranks")
    return (f'<section id="{escape(operation)}"><h2>{escape(operation)} of {size_text(size_bytes)}</h2>\n'
            f"<figure>{svg}</figure></section>\n")


def _runs_section(runs):
    rows = [[point.operation, size_text(point.size_bytes), time_text(point.without_ns),
             time_text(point.with_ns), time_text(point.huddle_ns), *_ratio(point.with_ratio),
             *_ratio(point.huddle_ratio)] for point in runs.points]
    table = _table(["operation", "size", "without", "with", "huddle", "times as fast with", "interval",
                    "by huddle", "interval"], rows, aside=(2, 3, 4, 6, 8))
    dropped = joined(f"{name} ({why})" for name, why in runs.dropped)
    oversubscribed = ", more than cores" if runs.oversubscribed else ""
    return (f'<section id="ranks-{runs.ranks}"><h2>{counted(runs.ranks, "rank")}{oversubscribed}: '
            f"{escape(runs.version)}</h2>\n{table}"
            + (f'<p class="note">Omitted, because a collective became slower: {escape(dropped)}.</p>'
               if runs.dropped else "") + "</section>\n")


def _program_section(program):
    if program is None:
        return ""
    times = [time_text(1e9 * statistics.median(one)) for one in (program.without_seconds, program.with_seconds)]
    table = _table(["without", "with", "times as fast with", "interval"], [[*times, *_ratio(program.ratio)]])
    return (f'<section id="program"><h2>The program: {len(program.with_seconds)} runs of each</h2>\n{table}'
            "</section>\n")


def _ratio(ratio):
    return ratio_text(ratio.middle), f"{ratio_text(ratio.low)}–{ratio_text(ratio.high)}"


def _table(heads, rows, kind="", aside=()):
    """Returns an HTML table. `aside` are the columns that a narrow window hides."""
    def cell(tag, column, text):
        style = ' class="aside"' if column in aside else ""
        return f"<{tag}{style}>{escape(text)}</{tag}>"
    head = "".join(cell("th", *one) for one in enumerate(heads))
    lines = "".join("<tr>" + "".join(cell("td", *one) for one in enumerate(row)) + "</tr>\n" for row in rows)
    style = f' class="{kind}"' if kind else ""
    return f'<div class="scroll"><table{style}><thead><tr>{head}</tr></thead>\n<tbody>{lines}</tbody></table></div>'


def _foot(version, command):
    return f"<footer>Printed by huddle {escape(version)} ({command}); drawn by huddle report.</footer>"
