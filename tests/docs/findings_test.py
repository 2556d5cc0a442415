#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that the simulations of the paper's clusters in docs/papers.md are those of the current huddle.

findings_test.py HUDDLE"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    command = [sys.executable, "-B", str(ROOT / "scripts/allgather_tables.py"), sys.argv[1], "findings"]
    today = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
    if today in (ROOT / "docs/papers.md").read_text(encoding="utf-8"):
        print("docs/papers.md shows what is simulated today")
        return 0
    print("docs/papers.md does not show what is simulated today:\n" + today)
    return 1


if __name__ == "__main__":
    sys.exit(main())
