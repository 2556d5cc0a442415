#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Determines which reductions an MPI supports and which of them huddle handles, from the output of
c/pairs.c and the statistics. reductions.py --libraries DIR FILE.json tests all pairs under every
installed MPI and writes the input of scripts/reductions.py."""
import argparse
import json
import pathlib
import re
import sys
import tempfile

import bench as bench_module
import peer as peer_module

SAMPLE = pathlib.Path(__file__).resolve().parents[3] / "bench/results/reductions.json"
PASSED = re.compile(r"MPI: unsupported datatype or operator: (\w+) of (.+)$", re.MULTILINE)
# The descriptions of unnamed datatypes in the statistics.
DERIVED = {"duplicate": "a derived datatype", "contiguous": "a derived datatype",
           "f90_integer": "an integer type of Fortran", "f90_real": "a real type of Fortran",
           "f90_complex": "a complex type of Fortran"}
TRUTH = ("MPI_LAND", "MPI_LOR", "MPI_LXOR")
# By family: the program's output with huddle for combinations in which an MPI deviates and huddle
# does not follow. Open MPI's vector code saturates sums of 8 and 16 bits in some elements of an
# array and not in others, while huddle wraps; it treats offsets as unsigned, and in version 4
# unsigned 64-bit numbers as signed. MPICH 4.0 orders all unsigned numbers as signed ones. Intel MPI
# returns the maximum as minimum of Fortran's parameterized types.
UNLIKE = {
    "openmpi-4": r"MPI_\w*(CHAR|SHORT|INT8_T|INT16_T|INTEGER[12]) MPI_SUM small|"
                 r"MPI_(UNSIGNED_LONG|UNSIGNED_LONG_LONG|UINT64_T|OFFSET) MPI_(MIN|MAX) small",
    "openmpi-5": r"MPI_\w*(CHAR|SHORT|INT8_T|INT16_T|INTEGER[12]) MPI_SUM small|"
                 r"MPI_OFFSET MPI_(MIN|MAX) small",
    "mpich-4": r"MPI_(UNSIGNED|UINT)\w* MPI_(MIN|MAX) small",
    "intel": r"f90_(integer|real) MPI_MIN differs",
}


def are_alike(ours, theirs, family):
    """Compares the program's output for one pair with and without huddle."""
    return ours == theirs or (family in UNLIKE and re.fullmatch(UNLIKE[family], ours) is not None)


class Pairs:
    """Every pair of a datatype and an operator under one MPI."""

    def __init__(self, bench):
        program = bench.program("pairs")
        native = bench.run(program, 2, huddle=False)
        arguments = []
        if native.status != 0:
            last = native.out.splitlines()[-1] if native.out else "its start"
            print(f"  {bench.peer.name} ends the program by itself, after: {last}", flush=True)
            arguments = ["without-truth-of-numbers"]
            native = bench.run(program, 2, arguments, huddle=False)
        self.native = native
        # Not tuned, because algorithms divide the data in different places: the sum of characters in
        # Open MPI overflows in another way in the last elements of a block.
        self.outcome = bench.run(program, 2, arguments, settings={"ACTIVATE_AFTER": "0", "TUNE": "off"})
        self.version, *theirs = native.out.splitlines()
        self.ours = self.outcome.out.splitlines()[1:]
        self.theirs = theirs
        self.passed = set(PASSED.findall(self.outcome.err))

    def fates(self):
        """Yields each pair's datatype, operator, and one of taken, passed, refused, untried.
        passed: the MPI supports the reduction, and huddle leaves it to the MPI."""
        for kind, operator, made in map(str.split, self.theirs):
            if made in ("refused", "untried"):
                yield kind, operator, made
            else:
                is_passed = (operator, DERIVED.get(kind, kind)) in self.passed
                yield kind, operator, "passed" if is_passed else "taken"

    def sample(self):
        by_kind = {}
        for kind, operator, fate in self.fates():
            by_kind.setdefault(kind, {}).setdefault(fate, []).append(operator.removeprefix("MPI_"))
        datatypes = {kind: {fate: " ".join(operators) for fate, operators in fates.items()}
                     for kind, fates in by_kind.items()}
        return {"version": self.version, "datatypes": datatypes}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("file", type=pathlib.Path)
    given = parser.parse_args()
    samples = {}
    with tempfile.TemporaryDirectory() as build:
        for name in ("openmpi-4", "openmpi-5", "mpich-4", "mpich-5", "intel"):
            peer = peer_module.Peer(name)
            if peer.lacks():
                sys.exit(f"{name}: {peer.lacks()}")
            bench = bench_module.Bench(peer, given.libraries, given.libraries, given.libraries, build)
            samples[name] = Pairs(bench).sample()
    given.file.write_text(json.dumps(samples, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
