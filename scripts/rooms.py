#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The rooms of the house as a picture, made from what the sources include.

    rooms.py FILE.svg      draws them; docs/architecture.md says in a few words what each is

A room stands above every room that it includes. An arrow is left out where others lead there as well.
"""
import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([a-z]+)/', re.M)
# "| `room` | what it is |" in the page.
WORDS = re.compile(r"^\| `([a-z_]+)` \| ([^|]+) \|", re.M)
BOX_WIDTH, BOX_HEIGHT, GAP, ROW = 150, 46, 18, 92
MARGIN = 16
LINE_CHARACTERS = 25


def included_rooms():
    """What each room includes, itself left out."""
    rooms = {folder.name: set() for folder in (ROOT / "src").iterdir() if folder.is_dir()}
    for room, seen in rooms.items():
        for file in (ROOT / "src" / room).rglob("*"):
            if file.suffix in (".cc", ".h", ".cpp", ".c"):
                seen.update(INCLUDE.findall(file.read_text(encoding="utf-8")))
        seen.intersection_update(set(rooms) - {room})
    return rooms


def storeys(rooms):
    """A room's is one above the highest that it includes."""
    found = {}

    def of(room):
        if room not in found:
            found[room] = 1 + max((of(below) for below in rooms[room]), default=-1)
        return found[room]

    for room in rooms:
        of(room)
    return found


def needed_arrows(rooms):
    """Those for which there is no way round over other rooms."""
    reach = {}

    def below(room):
        if room not in reach:
            reach[room] = rooms[room].union(*(below(one) for one in rooms[room]), set())
        return reach[room]

    return {room: {one for one in seen if not any(one in below(other) for other in seen - {one})}
            for room, seen in rooms.items()}


def placed(rooms, storey, arrows):
    """The middle of each room's box, rows ordered by where the rooms below stand."""
    rows = [sorted(room for room in rooms if storey[room] == level) for level in range(max(storey.values()) + 1)]
    width = max(len(row) for row in rows) * (BOX_WIDTH + GAP) - GAP
    middles = {}
    for level, row in enumerate(rows):
        def wish(room):
            below = [middles[one][0] for one in arrows[room]]
            return (sum(below) / len(below) if below else 0, room)
        row.sort(key=wish)
        start = MARGIN + (width - (len(row) * (BOX_WIDTH + GAP) - GAP)) / 2
        for number, room in enumerate(row):
            middles[room] = (start + number * (BOX_WIDTH + GAP) + BOX_WIDTH / 2,
                             MARGIN + (len(rows) - 1 - level) * ROW + BOX_HEIGHT / 2)
    return middles, width + 2 * MARGIN, len(rows) * ROW - (ROW - BOX_HEIGHT) + 2 * MARGIN


def broken(text):
    """In at most two lines."""
    words, lines = text.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > LINE_CHARACTERS and len(lines) < 2:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def picture(words):
    rooms = included_rooms()
    storey, arrows = storeys(rooms), needed_arrows(rooms)
    middles, width, height = placed(rooms, storey, arrows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
           f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="DejaVu Sans, sans-serif">',
           "<title>The rooms of huddle: each includes only what stands below it</title>",
           f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>']
    for room, below in sorted(arrows.items()):
        x, y = middles[room]
        for one in sorted(below):
            to_x, to_y = middles[one]
            out.append(f'<path d="M{x:.0f} {y + BOX_HEIGHT / 2:.0f} C{x:.0f} {y + ROW * .75:.0f} {to_x:.0f} '
                       f'{to_y - ROW * .75:.0f} {to_x:.0f} {to_y - BOX_HEIGHT / 2:.0f}" fill="none" stroke="#9aa7b4"/>')
    for room, (x, y) in sorted(middles.items()):
        out.append(f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y - BOX_HEIGHT / 2:.0f}" width="{BOX_WIDTH}" '
                   f'height="{BOX_HEIGHT}" rx="5" fill="#eef3f8" stroke="#4a6785"/>')
        out.append(f'<text x="{x:.0f}" y="{y - 8:.0f}" font-size="13" font-weight="bold" text-anchor="middle" '
                   f'fill="#1d2a36">{room}</text>')
        for number, line in enumerate(broken(words.get(room, ""))):
            out.append(f'<text x="{x:.0f}" y="{y + 5 + 11 * number:.0f}" font-size="9.5" text-anchor="middle" '
                       f'fill="#3c4b5a">{escape(line)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    pathlib.Path(sys.argv[1]).write_text(picture(dict(WORDS.findall(page))), encoding="utf-8")


if __name__ == "__main__":
    main()
