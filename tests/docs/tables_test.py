#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The tables that a command made for a document list what it would list today.

Of each row its words count: operations, algorithms, needs. Figures are of the machine and the day.
"""
import difflib
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import tables  # noqa: E402

WORDS = 3  # cells of a row, before its figures


def rows_of(text):
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in text.splitlines() if line.startswith("|")]
    return [" | ".join(row[:WORDS]) for row in cells]


def differences(huddle, command, shown):
    now = tables.run(huddle, command + " --dry-run")
    return list(difflib.unified_diff(rows_of(shown), rows_of(now), "shown", "today", n=0, lineterm=""))


def main():
    os.environ["XDG_CONFIG_HOME"] = os.devnull  # no machine file of whoever runs this
    huddle, documents = sys.argv[1], sys.argv[2:]
    checked, findings = 0, []
    for document in documents:
        text = pathlib.Path(document).read_text(encoding="utf-8")
        for _, command, shown, _ in tables.MADE.findall(text):
            checked += 1
            wrong = differences(huddle, command, shown)
            if wrong:
                findings.append(f"{document}: `{command}` gives another table today; make tables\n"
                                + "\n".join(wrong))
    assert checked, "no tables found"
    print("\n\n".join(findings) if findings else f"{checked} tables list what there is")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
