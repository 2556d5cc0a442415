#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""The findings of the paper on the neighbor exchange beside what is simulated on its fabrics, as a table:
neighbor_findings.py HUDDLE. Nothing is fitted: the figures are those of machines/fabrics."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RANKS = (8, 16, 32, 64)
PAPERS = ("ring", "neighbor", "doubling", "bruck")  # the algorithms that the paper compares
TIE = 1.02  # simulated times so near each other are one place
# size, fabric, what the paper found
FINDINGS = (
    ("8", "deepcomp-6800-qsnet", "doubling and bruck first"),
    ("8", "deepcomp-6800-ethernet", "doubling and bruck first"),
    ("8", "dawning-4000a-ethernet", "doubling and bruck first"),
    ("8K", "deepcomp-6800-qsnet", "neighbor first, narrowly; then ring"),
    ("8K", "deepcomp-6800-ethernet", "unsteady: on one machine neighbor last,"),
    ("8K", "dawning-4000a-ethernet", "on the other it and ring first"),
    ("120K", "deepcomp-6800-qsnet", "neighbor first, narrowly; then ring"),
    ("120K", "deepcomp-6800-ethernet", "neighbor clearly first"),
    ("120K", "dawning-4000a-ethernet", "neighbor first, half the time of bruck"),
)


def times(huddle, fabric, size, ranks):
    command = [huddle, "sim", "--fabric", str(ROOT / "machines/fabrics" / f"{fabric}.toml"), "allgather", size,
               "--ranks", str(ranks), "--json"]
    result = json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
    by_name = {row["algorithm"].split(":")[1]: row["ns"] for row in result["algorithms"]}
    return {name: by_name[name] for name in PAPERS}


def order_of(ns):
    """'doubling = bruck < neighbor < ring', with how much slower each place is than the first."""
    names = sorted(ns, key=lambda name: (ns[name], name))
    text = names[0]
    for before, name in zip(names, names[1:]):
        text += (" = " if ns[name] <= TIE * ns[before] else " < ") + name
        if ns[name] > TIE * ns[before]:
            text += f" {ns[name] / ns[names[0]]:.2f}"
    return text


def main():
    huddle = sys.argv[1]
    print("| block | fabric | published | simulated, " + " | ".join(f"p = {ranks}" for ranks in RANKS) + " |")
    print("|---|---|---" + "|---" * len(RANKS) + "|")
    for size, fabric, published in FINDINGS:
        cells = [order_of(times(huddle, fabric, size, ranks)) for ranks in RANKS]
        print(f"| {size} | `{fabric}` | {published} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
