#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that scripts/prose.py finds sentences that break the rules, and leaves others alone."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import prose  # noqa: E402


class Sentences(unittest.TestCase):
    def sentences_of(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_text(text, encoding="utf-8")
            return list(prose.sentences(path))

    def test_lines_of_a_comment_form_sentences(self):
        text = "int a;\n// Returns the root's\n// input. Throws nothing.\nint b;  // a trailing comment\n"
        self.assertEqual(self.sentences_of("a.cc", text),
                         [(2, "Returns the root's input."), (2, "Throws nothing."), (4, "a trailing comment")])

    def test_strings_are_not_comments(self):
        self.assertEqual(self.sentences_of("a.cc", 'const char* url = "http://somebody";\n'), [])

    def test_block_comments_count(self):
        self.assertEqual(self.sentences_of("a.h", "/* Who reads\n * this */\n"), [(1, "Who reads this")])

    def test_tables_and_code_of_documents_are_left_out(self):
        text = "# Who\n\nA paragraph of text.\n\n| who | what |\n\n```\nnobody sees this\n```\n"
        self.assertEqual(self.sentences_of("a.md", text), [(3, "A paragraph of text.")])


class Rules(unittest.TestCase):
    def test_sentences_of_the_old_dialect_break_a_rule(self):
        for sentence in ("Who has nothing to send says so.", "Where it pays, ranks exchange in pairs.",
                         "The others are told by flags.", "Takes as many slots as there are ranks.",
                         "Nobody writes to it."):
            self.assertIsNotNone(prose.broken_rule(sentence), sentence)

    def test_plain_sentences_break_none(self):
        for sentence in ("Returns the size of a call whose size every rank knows.",
                         "Users who set HUDDLE=off get the MPI alone.",
                         "The root publishes its input, and each reader copies it.",
                         "Throws if the file does not exist."):
            self.assertIsNone(prose.broken_rule(sentence), sentence)


if __name__ == "__main__":
    unittest.main()
