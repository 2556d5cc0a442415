#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that scripts/summary.py counts the tests of ctest runs: one that passes, one that fails, and one that did not
take place."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(sample NONE)
enable_testing()
foreach(name {names})
  add_test(NAME ${{name}} COMMAND ${{CMAKE_COMMAND}} -E ${{name}})
endforeach()
"""


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_ctest(self, *names):
        """Runs one test per name, which is a command of CMake: true passes, false fails. Returns the results file."""
        source = self.folder / "-".join(names)
        source.mkdir()
        (source / "CMakeLists.txt").write_text(PROJECT.format(names=" ".join(names)), encoding="utf-8")
        subprocess.run(["cmake", "-S", source, "-B", source / "build"], check=True, capture_output=True)
        subprocess.run(["ctest", "--test-dir", source / "build", "--output-junit", source / "results.xml"],
                       check=False, capture_output=True)
        return source / "results.xml"

    def summarize(self, *files):
        done = subprocess.run([sys.executable, ROOT / "scripts/summary.py", "12", *files], check=False,
                              capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_passed_tests_are_added(self):
        first, second = self.run_ctest("true"), self.run_ctest("true", "environment")
        status, text = self.summarize(first, second)
        self.assertEqual(status, 0)
        self.assertIn("\n100% tests passed, 0 tests failed out of 3\n", text)
        self.assertIn("Total Test time (real) = 12 sec", text)

    def test_failure_in_either_run_fails_and_is_named(self):
        first, second = self.run_ctest("true", "environment"), self.run_ctest("false")
        status, text = self.summarize(first, second)
        self.assertEqual(status, 1)
        self.assertIn("\n66% tests passed, 1 tests failed out of 3\n", text)
        self.assertIn("\n\tfalse (Failed)\n", text)

    def test_missing_run_is_left_out(self):
        status, text = self.summarize(self.run_ctest("false"), self.folder / "none.xml")
        self.assertEqual(status, 1)
        self.assertIn("\n0% tests passed, 1 tests failed out of 1\n", text)

    def test_no_run_at_all_is_a_failure(self):
        status, text = self.summarize(self.folder / "none.xml")
        self.assertEqual((status, text), (1, "No tests were run\n"))


if __name__ == "__main__":
    unittest.main()
