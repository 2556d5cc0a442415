# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks the SVG pictures of huddle's commands: well-formed XML, and texts that neither overlap nor leave their boxes.

Texts are measured with DejaVu Sans, the first font that pictures name, from matplotlib's copy.
"""
import dataclasses
import math
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ET

import matplotlib
import pytest
from matplotlib.ft2font import FT2Font, LOAD_NO_HINTING

ROOT = pathlib.Path(__file__).resolve().parents[2]
HUDDLE = os.environ["TEST_HUDDLE_PROGRAM"]
SVG = "{http://www.w3.org/2000/svg}"
# Tolerance for sums of rounded coordinates.
SLACK = 0.6

FONTS = {bold: FT2Font(str(pathlib.Path(matplotlib.get_data_path(), f"fonts/ttf/DejaVuSans{name}.ttf")), hinting_factor=1)
         for bold, name in ((False, ""), (True, "-Bold"))}
for font in FONTS.values():
    font.set_size(1000, 72)

PICTURES = {
    **{file.stem: ["topo", "--machine", str(file)] for file in sorted((ROOT / "machines").glob("*.toml"))},
    "one-core": ["topo", "--synthetic", "core:1 pu:1"],
    "many-threads": ["topo", "--synthetic", "pack:2 l3:2 core:4 pu:4"],
    "many-cores": ["topo", "--synthetic", "pack:4 numa:4 l3:4 core:8 pu:1"],
    "ladder": ["schedule", "allgather:neighbor", "-n", "7"],
    "maps": ["schedule", "alltoall:bruck", "-n", "64"],
    "lines": ["distance", "allgather", "--ranks", "2..64"],
    "bars": ["distance", "alltoall", "--ranks", "16"],
}


def drawn(arguments):
    """Returns the root element of the picture that a command draws. Its XML must be well-formed."""
    run = subprocess.run([HUDDLE, *arguments, "--svg", "-"], capture_output=True, check=True, timeout=60)
    return ET.fromstring(run.stdout)


@pytest.fixture(name="picture", scope="module", params=PICTURES.values(), ids=PICTURES.keys())
def each_picture(request):
    return drawn(request.param)


@dataclasses.dataclass
class Box:
    left: float
    top: float
    right: float
    bottom: float
    text: str = ""

    def holds(self, other):
        return (other.left >= self.left - SLACK and other.right <= self.right + SLACK
                and other.top >= self.top - SLACK and other.bottom <= self.bottom + SLACK)

    def overlaps(self, other):
        return (self.left < other.right - SLACK and other.left < self.right - SLACK
                and self.top < other.bottom - SLACK and other.top < self.bottom - SLACK)

    def holds_middle_of(self, other):
        x, y = (other.left + other.right) / 2, (other.top + other.bottom) / 2
        return self.left < x < self.right and self.top < y < self.bottom

    def area(self):
        return (self.right - self.left) * (self.bottom - self.top)


def ems(character, bold):
    return FONTS[bold].load_char(ord(character), flags=LOAD_NO_HINTING).horiAdvance / 64 / 1000


def box_of_text(element):
    """Returns the bounding box of a text's letters, without line spacing."""
    size = float(element.get("font-size"))
    width = size * sum(ems(c, element.get("font-weight") == "bold") for c in element.text)
    if "transform" in element.attrib:
        place = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\) scale\(([\d.]+) 1\)", element.get("transform"))
        x, y, scale = (float(number) for number in place.groups())
        width *= scale
    else:
        x, y = float(element.get("x")), float(element.get("y"))
    left = x - {"middle": width / 2, "end": width}.get(element.get("text-anchor"), 0)
    return Box(left, y - 0.76 * size, left + width, y + 0.24 * size, element.text)


def texts_of(picture):
    return [box_of_text(element) for element in picture.iter(f"{SVG}text")]


def boxes_of(picture):
    """Yields the rectangles with rounded corners: boxes and cells of a machine."""
    for element in picture.iter(f"{SVG}rect"):
        if "rx" in element.attrib:
            x, y, width, height = (float(element.get(name)) for name in ("x", "y", "width", "height"))
            yield Box(x, y, x + width, y + height)


def test_every_text_is_on_the_page(picture):
    page = Box(0, 0, *(float(number) for number in picture.get("viewBox").split()[2:]))
    assert texts_of(picture)
    assert [text for text in texts_of(picture) if not page.holds(text)] == []


def test_no_texts_overlap(picture):
    texts = texts_of(picture)
    assert [(one.text, other.text) for i, one in enumerate(texts) for other in texts[:i]
            if one.overlaps(other)] == []


def test_texts_stay_in_their_boxes(picture):
    boxes = list(boxes_of(picture))
    outside = []
    for text in texts_of(picture):
        around = [box for box in boxes if box.holds_middle_of(text)]
        if around and not min(around, key=Box.area).holds(text):
            outside.append(text)
    assert outside == []


def test_pictures_have_no_external_references(picture):
    for element in picture.iter():
        assert element.tag.removeprefix(SVG) in {"svg", "g", "rect", "path", "polyline", "text",
                                                 "linearGradient", "stop"}
        assert not [name for name in element.attrib if "href" in name]


def test_names_are_escaped(tmp_path):
    machine = (ROOT / "machines/songshan.toml").read_text(encoding="utf-8")
    hostile = tmp_path / "hostile.toml"
    hostile.write_text(machine.replace('name = "songshan"', r'''name = "</svg><b> & 'it' \"q\" \u001b é 界"''', 1),
                       encoding="utf-8")
    title = drawn(["topo", "--machine", str(hostile)]).find(f"{SVG}text[@font-size='19']")
    assert title.text == """</svg><b> & 'it' "q" ? é 界"""


@pytest.mark.parametrize("bold", [False, True], ids=["regular", "bold"])
def test_width_table_matches_the_font(bold):
    source = (ROOT / "src/tools/picture/svg_text.cc").read_text(encoding="utf-8")
    table = re.search(rf"{'bold' if bold else 'regular'}_widths = {{([\d,\s]*)}}", source).group(1)
    measured = [math.ceil(1000 * ems(chr(code), bold) - 0.1) for code in range(0x20, 0x7F)]
    for code, kept, true in zip(range(0x20, 0x7F), map(int, table.split(",")), measured, strict=True):
        assert kept in (true, true + 1), chr(code)
