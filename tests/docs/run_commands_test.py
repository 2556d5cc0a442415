#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that run_commands.py finds errors in documents."""
import os
import pathlib
import tempfile
import unittest

import run_commands


def findings_of(text, package=None):
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        document = scratch / "page.md"
        document.write_text(text, encoding="utf-8")
        return run_commands.run_document(document, scratch, dict(os.environ), package)


class RunCommands(unittest.TestCase):
    def test_true_output_passes(self):
        self.assertEqual(findings_of("```console run\n$ echo one two\none two\n```\n"), (1, []))

    def test_different_output_is_reported(self):
        commands, findings = findings_of("a\n```console run\n$ echo one\ntwo\n```\n")
        self.assertEqual(commands, 1)
        self.assertIn("page.md:2:", findings[0])

    def test_missing_and_additional_lines_are_reported(self):
        self.assertEqual(len(findings_of("```console run\n$ printf 'a\\nb\\n'\na\n```\n")[1]), 1)
        self.assertEqual(len(findings_of("```console run\n$ echo a\na\nb\n```\n")[1]), 1)

    def test_dots_match_anything(self):
        text = "```console run\n$ printf 'a 12 ns\\nb\\nc\\nd\\n'\na ... ns\n...\nd\n```\n"
        self.assertEqual(findings_of(text), (1, []))
        self.assertEqual(len(findings_of("```console run\n$ echo a 12 s\na ... ns\n```\n")[1]), 1)

    def test_wrong_status_is_reported(self):
        self.assertEqual(len(findings_of("```console run\n$ false\n```\n")[1]), 1)
        self.assertEqual(findings_of("```console run status=3\n$ true\n$ exit 3\n```\n"), (2, []))

    def test_block_that_needs_a_package_runs_only_with_it(self):
        text = "```console run\n$ echo one\nwrong\n```\n```console run needs=drawing\n$ echo two\ntwo\n```\n"
        self.assertIn("page.md:1:", findings_of(text)[1][0])
        self.assertEqual(findings_of(text, "drawing"), (1, []))
        self.assertEqual(findings_of(text, "sound"), (0, []))

    def test_command_continues_after_a_backslash(self):
        self.assertEqual(findings_of("```console run\n$ echo a \\\n  b\na b\n```\n"), (1, []))

    def test_block_that_shows_a_file_must_match_it(self):
        with tempfile.TemporaryDirectory() as folder:
            scratch = pathlib.Path(folder)
            (scratch / "a.c").write_text("/* SPDX */\n/* (c) */\nint a;\n", encoding="utf-8")
            (scratch / "b.h").write_text("// SPDX\n// (c)\n//\n// b\nint a;\nint b;\n  int c;\n", encoding="utf-8")
            for shown, findings in (("c a.c\nint a;", 0), ("c a.c\nint b;", 1), ("c a.c\nint a;\nint b;", 1),
                                    ("cpp b.h\n// b\n...\n  int c;", 0), ("cpp b.h\n...\nint b;", 1),
                                    ("cpp c.h\n...", 1), ("c a.c", 1)):
                document = scratch / "page.md"
                document.write_text(f"```{shown}\n```\n", encoding="utf-8")
                self.assertEqual(
                    len(run_commands.run_document(document, scratch, dict(os.environ))[1]), findings)

    def test_plain_console_blocks_are_reported(self):
        self.assertIn("console run", findings_of("```console\n$ false\n```\n")[1][0])
        self.assertEqual(findings_of("```console shown\n$ false\n```\n```sh\nfalse\n```\n"), (0, []))

    def test_indented_blocks_are_reported(self):
        self.assertIn("page.md:2: ", findings_of("1. a\n   ```console run\n   $ false\n   ```\n")[1][0])


if __name__ == "__main__":
    unittest.main()
