#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that docs/papers.md shows what the current huddle simulates and predicts for the papers.

findings_test.py HUDDLE"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Each function returns the text in which the document quotes the value of a figure.
QUOTED = {
    ("zhang", "bcast-placed-16m"): lambda ours: f"take {ours:.3f} of the time",
    ("zhang", "bcast-placed-16m-time"): lambda us: f"{us / 1000:.1f} ms (published: 41.6)",
    ("liu", "card-crossover"): lambda ranks: f"from {ranks:.0f} active ranks",
}


def output(command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def quotations(huddle):
    for paper in sorted({paper for paper, _ in QUOTED}):
        for figure in json.loads(output([huddle, "reproduce", paper, "--json"]))["papers"][0]["figures"]:
            if (paper, figure["name"]) in QUOTED:
                yield QUOTED[paper, figure["name"]](figure["ours"])


def main():
    huddle = sys.argv[1]
    text = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    table = output([sys.executable, "-B", str(ROOT / "scripts/allgather_tables.py"), huddle, "findings"])
    joined = " ".join(text.split())
    missing = [quoted for quoted in quotations(huddle) if quoted not in joined]
    if table not in text:
        missing.append(table)
    for quoted in missing:
        print("docs/papers.md does not show what huddle computes today:\n" + quoted)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
