#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Prints tables of simulated allgathers between nodes for the documents: allgather_tables.py HUDDLE TABLE.

findings    the results published in the paper on the neighbor exchange, beside simulations of its clusters
placement   the conditions under which the neighbor exchange wins on 16,384 nodes, by placement of the ranks

No parameter is fitted to the results: all of them come from machines/fabrics."""
import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
TIE = 1.02  # times within this factor of each other count as equal

PAPERS = ("ring", "neighbor", "doubling", "bruck")  # the algorithms that the paper compares
PAPERS_RANKS = (8, 16, 32, 64)
FINDINGS = (  # block, fabric, published
    ("8", "deepcomp-6800-qsnet", "doubling and bruck first"),
    ("8", "deepcomp-6800-ethernet", "doubling and bruck first"),
    ("8", "dawning-4000a-ethernet", "doubling and bruck first"),
    ("8K", "deepcomp-6800-qsnet", "neighbor first, narrowly; then ring"),
    ("8K", "deepcomp-6800-ethernet", "unsteady: neighbor last on one of the two,"),
    ("8K", "dawning-4000a-ethernet", "on the other first with ring"),
    ("120K", "deepcomp-6800-qsnet", "neighbor first, narrowly; then ring"),
    ("120K", "deepcomp-6800-ethernet", "neighbor clearly first"),
    ("120K", "dawning-4000a-ethernet", "neighbor first, half the time of bruck"),
)

LARGE_FABRICS = ("fat-tree-1to1", "fat-tree-2to1", "dragonfly")
PLACEMENTS = ("block", "round-robin", "random:1")
SIZES = ("8", "8K", "120K")


def times(huddle, fabric, size, ranks, placement="block"):
    command = [huddle, "sim", "--fabric", str(ROOT / "machines/fabrics" / f"{fabric}.toml"), "allgather", size,
               "--ranks", str(ranks), "--placement", placement, "--json"]
    result = json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
    return {row["algorithm"].split(":")[1]: row["ns"] for row in result["algorithms"]}


def order_of(ns):
    """Returns the algorithms from fastest to slowest, each with its time relative to the fastest unless it
    equals the one before it: 'bruck = doubling, neighbor 1.33, ring 2.31'."""
    names = sorted(ns, key=lambda name: (ns[name], name))
    text = names[0]
    for before, name in zip(names, names[1:]):
        tied = ns[name] <= TIE * ns[before]
        text += f" = {name}" if tied else f", {name} {ns[name] / ns[names[0]]:.2f}"
    return text


def first_of(ns):
    best = min(ns.values())
    firsts = [name for name in sorted(ns, key=ns.get) if ns[name] <= TIE * best]
    text = " = ".join(f"**{name}**" if name == "neighbor" else name for name in firsts)
    return text if "neighbor" in firsts else f"{text}; neighbor {ns['neighbor'] / best:.3g}"


def findings(huddle, _):
    yield ["block", "fabric", "published", *(f"simulated, p = {ranks}" for ranks in PAPERS_RANKS)]
    for size, fabric, published in FINDINGS:
        cells = []
        for ranks in PAPERS_RANKS:
            ns = times(huddle, fabric, size, ranks)
            cells.append(order_of({name: ns[name] for name in PAPERS}))
        yield [size, f"`{fabric}`", published, *cells]


def placement(huddle, ranks):
    yield ["fabric", "block", *(f"placed {one}" for one in PLACEMENTS)]
    for fabric in LARGE_FABRICS:
        for size in SIZES:
            yield [f"`{fabric}`", size,
                   *(first_of(times(huddle, fabric, size, ranks, one)) for one in PLACEMENTS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("huddle")
    parser.add_argument("table", choices=("findings", "placement"))
    parser.add_argument("--ranks", type=int, default=16384, help="of the table of placements")
    options = parser.parse_args()
    make = {"findings": findings, "placement": placement}[options.table]
    for number, row in enumerate(make(options.huddle, options.ranks)):
        print("| " + " | ".join(row) + " |", flush=True)
        if number == 0:
            print("|---" * len(row) + "|")


if __name__ == "__main__":
    main()
