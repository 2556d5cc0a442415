#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""What `huddle paths` calls the fastest is the fastest when measured again: paths_again.py HUDDLE

Calibrates twice on this machine, which has to be quiet, and asks the second file about the winners of
the first: at nine sizes of ten the same way is the fastest there, or within 10 % of it.
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
