#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Lists the data paths that are never chosen: scripts/idle_paths.py [--huddle PROGRAM] [MACHINE.toml...]

Counts how often each copy method of src/runtime/memory/copy_method.h and each path into a peer's memory of
src/runtime/single_copy is chosen. Those that are never chosen can be removed. Without a machine it counts in
tests/runtime/select/golden/choices.txt, which has the choices for every file in machines/. For the machines
on the command line, for example one that was calibrated on this host, it runs `huddle explain` for every
operation that moves data, with many sizes and numbers of ranks, with and without the shared heap.
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
    """Returns the names of the copy methods and peer paths, as their descriptors in the sources have them."""
    methods = (ROOT / "src/runtime/memory/copy_method.h").read_text(encoding="utf-8")
    paths = "".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "src/runtime/single_copy").glob("*")))
    return (re.findall(r'\.name = "([^"]+)"', methods) + re.findall(r'PeerPath \w+\(\) \{\s*return \{\s*"([^"]+)"', paths)
            + re.findall(r'string_view heap = "([^"]+)"', paths))


def recorded():
    """Yields each plan that the golden file expects, with the request that it is for."""
    machine = ""
    for line in (ROOT / "tests/runtime/select/golden/choices.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):
            machine = line
            continue
        request, _, plans = line.strip().partition(": ")
        for plan in plans.split(" | "):
            yield plan, f"{request}, {machine}"


def ranks_on(huddle, machine):
    """Returns the numbers of ranks to try: two, and one per core."""
    told = json.loads(subprocess.run([huddle, "explain", "barrier", "--machine", machine, "--json"],
                                     check=True, capture_output=True, text=True).stdout)
    return sorted({2, told["ranks"]})


def chosen(huddle, machine, operation, size, ranks, heap):
    """Returns the parameters of the plan that `huddle explain` predicts."""
    command = [huddle, "explain", operation, str(size), "-n", str(ranks), "--machine", machine,
               "--heap", heap, "--json"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return told["chosen"]["parameters"]


def asked(huddle, machines):
    """Yields each plan that huddle would choose on the machines, with the request that it is for."""
    for machine in machines:
        for ranks in ranks_on(huddle, machine):
            for operation in OPERATIONS:
                for size in SIZES:
                    for heap in ("off", "on"):
                        yield (chosen(huddle, machine, operation, size, ranks, heap),
                               f"{operation} of {size}, {pathlib.Path(machine).stem} with {ranks} ranks")


def names_of(parameters, names):
    """Returns the names that occur in the parameters; of two overlapping names, only the longer."""
    found = []
    parameters = parameters.replace("results returned", "")  # from slices; not a copy method
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
