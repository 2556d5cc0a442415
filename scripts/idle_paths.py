#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Which data paths never win: scripts/idle_paths.py [--huddle PROGRAM] [MACHINE.toml...]

Counts how often each copy method of src/runtime/memory/copy_method.h and each path into a peer's memory of
src/runtime/single_copy is chosen, and lists those that never are: they can go. Without a machine it counts in
tests/runtime/select/golden/choices.txt, which has the choices of every file in machines/. Of the machines
that are named, such as one that was calibrated here, it asks `huddle explain`: for every operation
that moves something, many sizes and numbers of ranks, with and without the shared heap.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OPERATIONS = ("bcast", "reduce", "allreduce", "reduce_scatter_block", "scan", "allgather", "alltoall",
              "alltoallv", "gather", "gatherv", "scatter")
SIZES = [64 << (2 * i) for i in range(10)]  # 64 to 16M


def names():
    """Those of the descriptors."""
    methods = (ROOT / "src/runtime/memory/copy_method.h").read_text(encoding="utf-8")
    paths = "".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "src/runtime/single_copy").glob("*")))
    return (re.findall(r'\.name = "([^"]+)"', methods) + re.findall(r'PeerPath \w+\(\) \{\s*return \{\s*"([^"]+)"', paths)
            + re.findall(r'string_view heap = "([^"]+)"', paths))


def recorded():
    """What the tests hold to be chosen, and for what."""
    machine = ""
    for line in (ROOT / "tests/runtime/select/golden/choices.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            machine = line
            continue
        request, _, plans = line.strip().partition(": ")
        for plan in plans.split(" | "):
            yield plan, f"{request}, {machine}"


def ranks_on(huddle, machine):
    """Two ranks, and one a core."""
    told = json.loads(subprocess.run([huddle, "explain", "barrier", "--machine", machine, "--json"],
                                     check=True, capture_output=True, text=True).stdout)
    return sorted({2, told["ranks"]})


def chosen(huddle, machine, operation, size, ranks, heap):
    """What would run, in the words of explain."""
    command = [huddle, "explain", operation, str(size), "-n", str(ranks), "--machine", machine,
               "--heap", heap, "--json"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told["chosen"]["parameters"]


def asked(huddle, machines):
    """What huddle would choose, and for what."""
    for machine in machines:
        for ranks in ranks_on(huddle, machine):
            for operation in OPERATIONS:
                for size in SIZES:
                    for heap in ("off", "on"):
                        yield (chosen(huddle, machine, operation, size, ranks, heap),
                               f"{operation} of {size}, {pathlib.Path(machine).stem} with {ranks} ranks")


def names_of(parameters, names):
    """Those of the names that stand in the words; of two that overlap the longer."""
    found = []
    parameters = parameters.replace("results returned", "")  # of slices: no method
    for name in sorted(names, key=len, reverse=True):
        words = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])")
        if words.search(parameters):
            found.append(name)
            parameters = words.sub("", parameters)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("machines", nargs="*", help="machine files; else what the tests hold")
    parser.add_argument("--huddle", default=str(ROOT / "build/release/bin/huddle"))
    arguments = parser.parse_args()
    all_names = names()
    wins = collections.Counter()
    first = {}
    plans = 0
    chosen_plans = asked(arguments.huddle, arguments.machines) if arguments.machines else recorded()
    for plan, request in chosen_plans:
        plans += 1
        for name in names_of(plan, all_names):
            wins[name] += 1
            first.setdefault(name, request)
    print(f"{plans} plans")
    for name in all_names:
        print(f"{wins[name]:6}  {name}: " + (f"first in {first[name]}" if name in first else "NEVER"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
