#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that the result of `huddle paths` is reproducible: paths_again.py HUDDLE

Calibrates this machine twice, which has to be quiet, and looks up the winners of the first file in the
second: for nine sizes in ten they have to be the fastest there, too, or within 10 % of the fastest.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HUDDLE = pathlib.Path(sys.argv[1]).resolve()
ENOUGH, NEAR = 0.9, 1.1


def paths(machine, ranks):
    done = subprocess.run([HUDDLE, "paths", "--machine", machine, "-n", str(ranks), "--json"], check=True,
                          text=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["points"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / f"{name}.toml" for name in ("first", "second")]
        for file in files:
            subprocess.run([HUDDLE, "calibrate", "--output", file], check=True, stdout=subprocess.DEVNULL)
        held = []
        for ranks in (1, 2):
            for first, second in zip(*(paths(file, ranks) for file in files)):
                ns = {way["path"]: way["ns"] for way in second["paths"]}
                held.append(ns[first["fastest"]] <= NEAR * min(ns.values()))
                print(f"{ranks} ranks, {first['bytes']:.0f} bytes: {first['fastest']}, then {second['fastest']}")
    share = sum(held) / len(held)
    print(f"{share:.0%} of {len(held)} held")
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
