#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that docs/architecture.md describes every folder of src, and that its picture agrees with the includes."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import dependencies  # noqa: E402


class ArchitecturePage(unittest.TestCase):
    def test_every_layer_has_a_row(self):
        layers = {module.layer for module in dependencies.declared_modules()}
        self.assertEqual(set(dependencies.descriptions_in_architecture_page()), layers)

    def test_picture_agrees_with_the_includes(self):
        drawn = dependencies.picture(dependencies.descriptions_in_architecture_page())
        kept = (ROOT / "docs/pictures/modules.svg").read_text(encoding="utf-8")
        self.assertEqual(drawn, kept, "run scripts/dependencies.py docs/pictures/modules.svg")

    def test_implied_edges_are_left_out(self):
        self.assertEqual(dependencies.direct_dependencies({"a": {"b", "c"}, "b": {"c"}, "c": set()}),
                         {"a": {"b"}, "b": {"c"}, "c": set()})

    def test_height_is_one_more_than_the_highest_included(self):
        self.assertEqual(dependencies.heights({"a": {"b", "c"}, "b": {"c"}, "c": set()}), {"a": 2, "b": 1, "c": 0})

    def test_cycle_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "a, b"):
            dependencies.heights({"a": {"b"}, "b": {"a"}})

    def test_file_belongs_to_the_innermost_module(self):
        modules = [dependencies.Module("common", ""), dependencies.Module("common/settings", "USES common")]
        self.assertEqual(dependencies.module_of("common/settings/a.h", modules).name, "settings")
        self.assertEqual(dependencies.module_of("common/a.h", modules).name, "common")
        self.assertIsNone(dependencies.module_of("commons/a.h", modules))


if __name__ == "__main__":
    unittest.main()
