#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Prints one summary of several ctest runs in ctest's format: summary.py SECONDS JUNIT_FILE...
SECONDS is the total time of the runs. Files that do not exist are runs that did not take place. Exits with status 1
if a test failed or no run took place."""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def summary(seconds, files):
    """Returns the lines of the summary and the number of failed tests, or None if no run took place."""
    runs = [ElementTree.parse(file).getroot() for file in files if pathlib.Path(file).exists()]
    cases = [case for run in runs for case in run.iter("testcase")]
    if not cases:
        return ["No tests were run"], None
    failed = [case.get("name") for case in cases if case.get("status") == "fail"]
    skipped = [case.get("name") for case in cases if case.get("status") in ("notrun", "disabled")]
    passed_percent = 100 * (len(cases) - len(failed)) // len(cases)
    lines = ["", f"{passed_percent}% tests passed, {len(failed)} tests failed out of {len(cases)}", "",
             f"Total Test time (real) = {seconds} sec"]
    if skipped:
        lines += ["", "The following tests did not run:", *(f"\t{name} (Skipped)" for name in skipped)]
    if failed:
        lines += ["", "The following tests FAILED:", *(f"\t{name} (Failed)" for name in failed)]
    return lines, len(failed)


def main():
    lines, failed = summary(sys.argv[1], sys.argv[2:])
    print("\n".join(lines))
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
