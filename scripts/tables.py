#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Regenerates the tables of documents: tables.py HUDDLE DOCUMENT...

Such a table is between two comments. The first one contains the command that prints it, of huddle or a script:

    <!-- made by: huddle ... -->
    <!-- end of what was made -->
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MADE = re.compile(r"(<!-- made by: ((?:huddle|(?:scripts|bench)/\S+) [^\n]*?) -->\n)(.*?)(<!-- end of what was made -->)", re.S)


def run(huddle, command):
    """Returns the output of a shell command. `huddle` in the command is the program at the path `huddle`."""
    environment = dict(os.environ, PATH=f"{pathlib.Path(huddle).resolve().parent}:{os.environ['PATH']}")
    return subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def main():
    huddle = sys.argv[1]
    for document in map(pathlib.Path, sys.argv[2:]):
        text = document.read_text(encoding="utf-8")
        made = MADE.sub(lambda one: one[1] + run(huddle, one[2]) + one[4], text)
        document.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
