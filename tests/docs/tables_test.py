#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that the generated tables of documents are up to date.

A table that a script makes of samples in this repository must be equal. In a table of measurements only the words of
each row count: operations, algorithms, needs.
"""
import difflib
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import tables  # noqa: E402

WORDS = 3  # cells of a row that are compared, before its figures


def rows_of(text):
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in text.splitlines() if line.startswith("|")]
    return [" | ".join(row[:WORDS]) for row in cells]


def differences(huddle, command, shown):
    if command.startswith(("scripts/", "bench/")):
        before, now = shown.splitlines(), tables.run(huddle, command).splitlines()
    else:
        before, now = rows_of(shown), rows_of(tables.run(huddle, command + " --dry-run"))
    return list(difflib.unified_diff(before, now, "shown", "today", n=0, lineterm=""))


def main():
    os.environ["XDG_CONFIG_HOME"] = os.devnull  # hides the user's machine file
    huddle, documents = sys.argv[1], sys.argv[2:]
    checked, findings = 0, []
    for document in documents:
        made = tables.MADE.findall(pathlib.Path(document).read_text(encoding="utf-8"))
        if not made:
            findings.append(f"{document}: no tables found")
        for _, command, shown, _ in made:
            checked += 1
            wrong = differences(huddle, command, shown)
            if wrong:
                findings.append(f"{document}: `{command}` gives another table today; make tables\n"
                                + "\n".join(wrong))
    print("\n\n".join(findings) if findings else f"{checked} tables list what there is")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
