#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""docs/architecture.md shows the house as it is: every room has its row, and the picture is that of
today's includes."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import rooms  # noqa: E402

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


class Rooms(unittest.TestCase):
    def test_all_are_on_the_page(self):
        self.assertEqual(set(dict(rooms.WORDS.findall(PAGE))), set(rooms.included_rooms()))

    def test_picture_is_todays(self):
        drawn = rooms.picture(dict(rooms.WORDS.findall(PAGE)))
        kept = (ROOT / "docs/pictures/rooms.svg").read_text(encoding="utf-8")
        self.assertEqual(drawn, kept, "scripts/rooms.py docs/pictures/rooms.svg makes it anew")

    def test_arrows_with_a_way_round_are_left_out(self):
        self.assertEqual(rooms.needed_arrows({"a": {"b", "c"}, "b": {"c"}, "c": set()}),
                         {"a": {"b"}, "b": {"c"}, "c": set()})

    def test_a_room_stands_above_what_it_includes(self):
        self.assertEqual(rooms.storeys({"a": {"b", "c"}, "b": {"c"}, "c": set()}), {"a": 2, "b": 1, "c": 0})


if __name__ == "__main__":
    unittest.main()
