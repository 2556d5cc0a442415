#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Makes the tables and pictures of the documents from results of `huddle bench`.

    ratios.py table RESULTS.json...            a table in Markdown: mean and lowest speed-up by operation
    ratios.py picture RESULTS.json FILE.svg    speed-up by operation and message size
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import huddle  # noqa: E402
from huddle.statistics import geometric_mean  # noqa: E402
from huddle.words import counted, joined, number_word, ratio_text, size_text  # noqa: E402


def lowest_of(points):
    return min(points, key=lambda point: point.ratio.middle)


def lowest_text(point):
    at = f" ({size_text(point.size_bytes)})" if point.size_bytes else ""
    return f"{ratio_text(point.ratio.middle)}{at}"


def machine_text(results):
    """Returns the processor and the number of cores, or the name of the machine if its file does not contain them."""
    if not results.machine:
        return results.machine_name
    model = re.sub(r"\((R|TM)\)| Processor", "", results.machine.cpu_model)
    return f"{model}, {counted(results.machine.cores, 'core')}"


def rivals_text(results):
    """Returns the MPIs that huddle was compared with."""
    if results.has_peers:
        return f"the fastest of {number_word(len(results.mpis))} MPIs at each point"
    return f"{results.mpis[0].short_version}'s own collectives"


def caption(many):
    """Returns the caption of the table. The settings of all files must be the same."""
    captions = {f"Speed-up over {rivals_text(one)}: {counted(one.ranks, 'rank')}, message sizes "
                f"{joined(map(size_text, one.sizes))}, buffers in "
                f"{'the shared heap' if one.settings.heap else 'ordinary memory'}" for one in many}
    assert len(captions) == 1, f"results of different settings in one table: {captions}"
    return f"{captions.pop()}. Above 1, huddle is faster."


def cells_of(points):
    mean = geometric_mean([point.ratio.middle for point in points])
    return [ratio_text(mean), lowest_text(lowest_of(points))]


def all_cells(results):
    mean, lowest = cells_of(results.points)
    return [mean, f"{lowest_of(results.points).operation} {lowest}"]


def table(files):
    many = [huddle.load(file) for file in files]
    head = ["operation"]
    for one in many:
        head += [f"{machine_text(one)}: mean", "lowest (size)"]
    rows = [head, ["---"] * len(head)]
    for name in many[0].operations:
        rows.append([name, *(cell for one in many for cell in cells_of(one.of(name)))])
    rows.append([f"**all {counted(len(many[0].points), 'point')}**",
                 *(f"**{cell}**" for one in many for cell in all_cells(one))])
    return f"{caption(many)}\n\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def picture(file, output):
    import matplotlib
    from huddle.plots.canvas import SETTINGS
    from huddle.plots.palette import LIGHT
    figure = huddle.load(file).heat_map()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(output, format="svg", facecolor=LIGHT.paper,
                       metadata={"Date": None, "Creator": None})


def main(words):
    if words[:1] == ["table"] and len(words) > 1:
        print(table(words[1:]), end="")
    elif words[:1] == ["picture"] and len(words) == 3:
        picture(*words[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
