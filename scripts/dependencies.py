#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Reads the modules that src/CMakeLists.txt declares and the headers that they include, and draws the layers of src.

    dependencies.py FILE.svg      writes the picture of docs/architecture.md

A module is a folder of src that makes one library. A layer is a folder directly below src, with the modules in it.
"""
import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[1]
DECLARATION = re.compile(r"^huddle_module\((\S+?)(?:\s([^)]*))?\)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
# A row of the table in docs/architecture.md: "| [`src/model`](../src/model) | what it contains |".
LAYER_ROW = re.compile(r"^\| \[`src/([a-z_]+)`\]\([^)]*\) \| ([^|]+) \|", re.M)
BOX_WIDTH, GAP, MARGIN, CHARACTERS_PER_LINE = 250, 24, 16, 42
TITLE_HEIGHT, LINE_HEIGHT, ROW_GAP = 22, 14, 44


class Module:
    """One huddle_module() of src/CMakeLists.txt."""

    def __init__(self, folder, words):
        self.folder = folder
        self.name = folder.rsplit("/", 1)[-1]
        self.layer = folder.split("/", 1)[0]
        self.may_include = set()
        keyword = ""
        for word in words.split():
            if word in ("SOURCES", "USES", "READS", "LINKS"):
                keyword = word
            elif keyword in ("USES", "READS"):
                self.may_include.add(word)


def declared_modules():
    """Returns the modules in the order of their declarations."""
    text = (ROOT / "src/CMakeLists.txt").read_text(encoding="utf-8")
    return [Module(folder, words) for folder, words in DECLARATION.findall(text)]


def module_of(path, modules):
    """Returns the module that contains a path below src, or None. If modules are nested, the inner one counts."""
    inside = [module for module in modules if path.startswith(module.folder + "/")]
    return max(inside, key=lambda module: len(module.folder), default=None)


def included_layers(modules):
    """Returns a dictionary from the name of each layer to the set of other layers that its sources include."""
    layers = {module.layer: set() for module in modules}
    for file in sorted((ROOT / "src").rglob("*")):
        if file.suffix not in (".cc", ".h", ".cpp", ".c"):
            continue
        layer = file.relative_to(ROOT / "src").parts[0]
        for header in INCLUDE.findall(file.read_text(encoding="utf-8")):
            other = header.split("/", 1)[0]
            if "/" in header and other in layers and other != layer:
                layers[layer].add(other)
    return layers


def heights(included):
    """Returns the height of each node of an acyclic graph: one more than the highest node that it includes."""
    found = {}

    def height(node, path=()):
        if node in path:
            raise ValueError("these include each other: " + ", ".join(path[path.index(node):]))
        if node not in found:
            found[node] = 1 + max((height(below, (*path, node)) for below in included[node]), default=-1)
        return found[node]

    for node in included:
        height(node)
    return found


def direct_dependencies(included):
    """Returns the transitive reduction of the graph: without the edges that other edges imply."""
    reachable = {}

    def below(node):
        if node not in reachable:
            reachable[node] = included[node].union(*(below(one) for one in included[node]), set())
        return reachable[node]

    return {node: {one for one in ones if not any(one in below(other) for other in ones - {one})}
            for node, ones in included.items()}


def lines_of(text):
    """Breaks a text into lines for a box."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) + 1 > CHARACTERS_PER_LINE:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def picture(descriptions):
    """Returns the SVG picture of the layers, each with its description and its modules."""
    modules = declared_modules()
    included = included_layers(modules)
    height_of, edges = heights(included), direct_dependencies(included)
    texts = {}
    for layer in included:
        inner = [module.name for module in modules if module.layer == layer and module.folder != layer]
        texts[layer] = ([(line, False) for line in lines_of(descriptions.get(layer, ""))] +
                        [(line, True) for line in lines_of(", ".join(inner)) if line])
    rows = [sorted(layer for layer in included if height_of[layer] == level)
            for level in range(max(height_of.values()) + 1)]
    width = max(len(row) for row in rows) * (BOX_WIDTH + GAP) - GAP + 2 * MARGIN
    boxes, y = {}, MARGIN
    for row in reversed(rows):
        row_height = TITLE_HEIGHT + LINE_HEIGHT * max(len(texts[layer]) for layer in row) + 6
        x = (width - len(row) * (BOX_WIDTH + GAP) + GAP) / 2
        for layer in row:
            boxes[layer] = (x, y, row_height)
            x += BOX_WIDTH + GAP
        y += row_height + ROW_GAP
    total = y - ROW_GAP + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{total:.0f}" '
           f'viewBox="0 0 {width:.0f} {total:.0f}" font-family="DejaVu Sans, sans-serif">',
           "<title>The folders of src: each includes only those that its lines lead down to</title>",
           f'<rect width="{width:.0f}" height="{total:.0f}" fill="#ffffff"/>']
    for layer, below in sorted(edges.items()):
        x, top, height = boxes[layer]
        for one in sorted(below):
            to_x, to_y, _ = boxes[one]
            start, end = x + BOX_WIDTH / 2, to_x + BOX_WIDTH / 2
            if height_of[layer] - height_of[one] > 1 and start != end:
                # The edge starts at the corner of the box, so that it passes beside the box in between.
                start += (BOX_WIDTH / 2 - 5) * (1 if end > start else -1)
            out.append(f'<path d="M{start:.0f} {top + height:.0f} C{start:.0f} {top + height + ROW_GAP:.0f} '
                       f'{end:.0f} {to_y - ROW_GAP:.0f} {end:.0f} {to_y:.0f}" fill="none" stroke="#7b8b9a" '
                       'stroke-width="1.5"/>')
    for layer, (x, top, height) in sorted(boxes.items()):
        out.append(f'<rect x="{x:.0f}" y="{top:.0f}" width="{BOX_WIDTH}" height="{height:.0f}" rx="5" '
                   'fill="#eef3f8" stroke="#4a6785"/>')
        out.append(f'<text x="{x + 10:.0f}" y="{top + 17:.0f}" font-size="13" font-weight="bold" '
                   f'fill="#1d2a36">src/{layer}</text>')
        for number, (line, is_module) in enumerate(texts[layer], 1):
            style = 'font-style="italic" fill="#4a6785"' if is_module else 'fill="#3c4b5a"'
            out.append(f'<text x="{x + 10:.0f}" y="{top + 17 + LINE_HEIGHT * number:.0f}" font-size="10" '
                       f'{style}>{escape(line)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def descriptions_in_architecture_page():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    return dict(LAYER_ROW.findall(page))


def main():
    pathlib.Path(sys.argv[1]).write_text(picture(descriptions_in_architecture_page()), encoding="utf-8")


if __name__ == "__main__":
    main()
