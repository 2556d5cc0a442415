#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests the built manual pages as their readers see them: pages_test.py HUDDLE MAN_FOLDER

Each has the contents of --help, every setting is documented, and mandoc and groff report no warnings.
"""
import pathlib
import re
import subprocess
import sys
import unittest

HUDDLE = sys.argv[1]
FOLDER = pathlib.Path(sys.argv[2])
HEADER = pathlib.Path(__file__).resolve().parents[3] / "include/huddle/huddle.h"


def said(*words):
    done = subprocess.run(words, text=True, capture_output=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def page(name):
    """Returns the page as shown to a reader, with lines of any length."""
    (file,) = FOLDER.glob(f"man[!3]/{name}.?")
    return said("mandoc", "-Tascii", "-Owidth=1000", str(file)).replace("\b_", "")


def plain(text):
    """Removes the overstrikes that make letters bold or underlined on paper."""
    return re.sub(".\b", "", text)


def joined(text):
    return " ".join(text.split())


def page_of_c():
    return joined(plain(said("mandoc", "-Tascii", "-Owidth=1000", str(FOLDER / "man3/huddle.3"))))


def commands(*above):
    """Yields the words of each command, including subcommands such as ("bench", "engine")."""
    _, _, listed = said(HUDDLE, *above, "--help").partition("Commands:")
    for name in re.findall(r"^  (\w+) ", listed.split("\n\n")[0], re.MULTILINE):
        yield (*above, name)
        yield from commands(*above, name)


def page_of(command):
    return "-".join(["huddle", *command])


def arguments_in(help_text):
    """Yields name and help of each option and positional argument."""
    sections = re.findall(r"^(?:Arguments|Options|Appearance of the output):\n((?:  .*\n)+)", help_text,
                          re.MULTILINE)
    for entry in re.split(r"\n(?=  \S)", "\n".join(section.rstrip("\n") for section in sections)):
        name, _, text = entry.strip().partition("  ")
        yield name, joined(text)


class Pages(unittest.TestCase):
    def test_program_and_each_command_have_a_page(self):
        wanted = {"huddle.1", "huddle-settings.7", *(f"{page_of(command)}.1" for command in commands())}
        self.assertEqual({file.name for file in FOLDER.glob("man[!3]/*")}, wanted)
        self.assertIn("huddle-bench-engine.1", wanted)

    def test_they_have_the_contents_of_help(self):
        for words in [(), *commands()]:
            name = page_of(words)
            help_text, text = said(HUDDLE, *words, "--help"), joined(plain(page(name)))
            found = list(arguments_in(help_text))
            self.assertIn("-h,--help", [argument for argument, _ in found])
            for argument, meaning in found:
                with self.subTest(page=name, argument=argument):
                    spelled = argument.replace(",--", ", --")
                    optional = re.sub(r" (\S+)$", r" [\1]", spelled)  # its value is optional
                    self.assertTrue(f"{spelled} {meaning}" in text or f"{optional} {meaning}" in text,
                                    f"{spelled} {meaning}")
            with self.subTest(page=name):
                opening = joined(help_text.split("\n\n")[0])
                self.assertIn(opening, text)
                self.assertEqual("Exit status:" in help_text, "EXIT STATUS" in text)

    def test_every_setting_is_documented(self):
        text = plain(page("huddle-settings"))
        keys = [line.split()[0] for line in said(HUDDLE, "config").split("\n\n")[0].splitlines()[1:]]
        self.assertIn("machine", keys)
        for key in keys:
            variable = "HUDDLE" if key == "huddle" else "HUDDLE_" + key.upper().replace("-", "_")
            self.assertRegex(text, rf"(?m)^ +{key} \S+$")
            self.assertIn(f"Environment: {variable}.", text)

    def test_page_of_c_has_all_comments_of_the_header(self):
        text = page_of_c()
        comments = re.findall(r"/\*\*<?(.*?)\*/", HEADER.read_text(encoding="utf-8"), re.DOTALL)
        self.assertGreater(len(comments), 40)
        for comment in comments:
            self.assertIn(joined(re.sub(r"(?m)^ +\*", "", comment)), text)

    def test_every_function_of_c_is_documented_and_has_a_page(self):
        text = page_of_c()
        # All text from the beginning of a declaration's line to its end.
        declared = re.findall(r"(?m)^\w[^#/;{]*?\b(huddle_\w+)\([^;]*;", HEADER.read_text(encoding="utf-8"))
        functions = [name for name in declared if name != "huddle_gather_function"]  # a type
        self.assertIn("huddle_bcast", functions)
        self.assertGreater(len(functions), 35)
        for name in functions:
            self.assertIn(f" {name}(", text.replace("*", " "))
        self.assertEqual({file.stem for file in FOLDER.glob("man3/*")}, {"huddle", "huddle.h", *functions})

    def test_mandoc_has_no_warnings(self):
        for file in FOLDER.glob("man?/*"):
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(file)], text=True, capture_output=True,
                                  check=False)
            # The version takes the place of a date.
            warnings = [line for line in done.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(warnings, [])

    def test_groff_has_no_warnings(self):
        for file in FOLDER.glob("man?/*"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(file)], text=True,
                                  capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
