# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The section of the report that shows the machine as boxes, and the times of a cache line in it."""
import html
import math

from .plots.canvas import svg_element
from .plots.lines import lines_figure, with_threads
from .plots.palette import STAND_INS
from .sentences import level_title
from .words import short_number, size_text, time_text

escape = html.escape
MOST_COLUMNS = 8  # of cores; longer rows are hard to read


def machine_section(results):
    machine = results.machine
    if machine is None:
        return (f"<p>{escape(results.machine_name)}. This file does not describe it further: an early "
                "huddle wrote it. Measured again, it will.</p>")
    matrix = ""
    figure = lines_figure(machine, STAND_INS)
    if figure is not None:
        svg = svg_element(figure, "lines", "Time of a cache line from core to core, in nanoseconds")
        matrix = f"<figure>{svg}<figcaption>{escape(_caption(machine))}</figcaption></figure>"
    doubts = "".join(f"<li>{escape(doubt)}</li>" for doubt in machine.doubts)
    return (f"<p>{escape(_title(results))}</p>\n"
            f'<div class="machine"><div>{boxes(machine, _core)}{_lines(machine)}</div>{matrix}</div>'
            + (f'<p class="note">Doubts of the calibration:</p><ul class="doubts note">{doubts}</ul>'
               if doubts else ""))


def _caption(machine):
    times = with_threads(machine)
    known = [time for row in times for time in row if time > 0]
    caption = (f"Measured time of a cache line one way, in ns, by hardware thread: {short_number(min(known))} to "
               f"{short_number(max(known))}")
    if times[0][0] > 0:
        caption += "; on the diagonal between the hardware threads of a core"
    return caption


def _title(results):
    machine = results.machine
    ground = "calibrated" if results.calibrated else "uncalibrated, figures are generic"
    memory = size_text(sum(one.bytes for one in machine.memories))
    return (f"{machine.cpu_model}: {machine.cores} cores, {len(machine.processors)} hardware threads, "
            f"{memory} of memory on {len(machine.memories)} "
            f"NUMA node{'' if len(machine.memories) == 1 else 's'}; {ground}.")


def cores_of(machine):
    """Returns the processors of each core. Without core levels, each processor is a core."""
    return next((level.groups for level in machine.levels if level.name == "core"),
                [(processor,) for processor in machine.processors])


def boxes(machine, draw):
    """Returns nested boxes of packages and caches. draw(core) returns the content for a core."""
    cores = cores_of(machine)
    outer = [level for level in reversed(machine.levels) if any(
        len([core for core in cores if set(core) <= set(group)]) > 1 for group in level.groups)]
    return _inside(outer, cores, set(machine.processors), draw)


def _inside(levels, cores, place, draw):
    """Returns the boxes of the outermost level within `place`. Levels with equal processors share a box."""
    if not levels:
        return _cores([core for core in cores if set(core) <= place], draw)
    outermost, inner = levels[0], levels[1:]
    parts = []
    for number, group in enumerate(outermost.groups):
        if not set(group) <= place:
            continue
        titles, rest = [level_title(outermost, number)], list(inner)
        while rest and group in rest[0].groups:
            titles.append(level_title(rest[0], rest[0].groups.index(group)))
            rest.pop(0)
        parts.append(f'<div class="box"><span class="title">{escape(" + ".join(titles))}</span>'
                     f'<div class="inside">{_inside(rest, cores, set(group), draw)}</div></div>')
    return "".join(parts)


def _cores(cores, draw):
    """Returns the cores in rows of equal length: eight cores as two rows of four."""
    cells = "".join(map(draw, cores))
    return f'<div class="cores" style="--columns: {_columns(len(cores))}">{cells}</div>'


def core_name(core):
    return "·".join(map(str, core))


def _core(core):
    return f'<span class="core">{core_name(core)}</span>'


def _columns(count):
    """Returns the number of columns of a grid with full rows that is closest to a square, and not higher than wide."""
    square = math.isqrt(count - 1) + 1  # rounded up
    exact = next((columns for columns in range(square, count + 1) if count % columns == 0), count)
    return exact if exact <= MOST_COLUMNS else square


def _lines(machine):
    if not machine.lines:
        return ""
    rows = "".join(f'<tr><td class="words">{escape(line.level)}</td>'
                   f"<td>{escape(time_text(line.one_way_ns))}</td>"
                   f"<td>{escape(time_text(line.shared_ns))}</td>"
                   f'<td class="words">{escape(line.origin)}</td></tr>' for line in machine.lines)
    return ('<table><caption>A cache line</caption><thead><tr><th class="words">within one</th>'
            '<th>one way</th><th>both write</th><th class="words">origin</th></tr></thead>'
            f"<tbody>{rows}</tbody></table>")
