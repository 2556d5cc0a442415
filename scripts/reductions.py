#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Prints the table of reductions that huddle handles under each MPI: reductions.py table FILE.json

tests/mpi/programs/reductions.py writes the file. It tries every datatype with every operator.
"""
import json
import pathlib
import sys

MPIS = {"openmpi-4": "Open MPI 4", "openmpi-5": "Open MPI 5", "mpich-4": "MPICH 4", "mpich-5": "MPICH 5",
        "intel": "Intel MPI"}
CLASSES = {"arithmetic": ("SUM", "PROD"), "order": ("MIN", "MAX"), "truth": ("LAND", "LOR", "LXOR"),
           "bits": ("BAND", "BOR", "BXOR"), "place": ("MINLOC", "MAXLOC")}
DERIVED = {"duplicate": "`MPI_Type_dup` of a named one", "contiguous": "`MPI_Type_contiguous` of a named one",
           "f90_integer": "`MPI_Type_create_f90_integer`", "f90_real": "`..._f90_real`",
           "f90_complex": "`..._f90_complex`"}


def in_classes(operators):
    """Returns the operators as a list, with complete classes replaced by their names."""
    words, left = [], list(operators)
    for name, members in CLASSES.items():
        if all(member in left for member in members):
            words.append(name)
            left = [operator for operator in left if operator not in members]
    return ", ".join(words + left)


def cell(fates):
    """Returns the cell of one datatype under one MPI: operators that fall back to the MPI in parentheses."""
    if fates is None:
        return "no such type"
    words = [in_classes(fates.get("taken", "").split())]
    if fates.get("passed"):
        words.append(f"({in_classes(fates['passed'].split())})")
    return " ".join(filter(None, words)) or "none"


def short(kind):
    return DERIVED.get(kind, kind.removeprefix("MPI_"))


def rows_of(samples):
    """Returns the rows of the table. Datatypes with equal cells share a row."""
    kinds = dict.fromkeys(kind for mpi in MPIS for kind in samples[mpi]["datatypes"])
    rows = {}
    for kind in kinds:
        cells = tuple(cell(samples[mpi]["datatypes"].get(kind)) for mpi in MPIS)
        rows.setdefault(cells, []).append(short(kind))
    return [[", ".join(names), *cells] for cells, names in rows.items()]


def table(file):
    samples = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    rows = [["datatypes", *MPIS.values()], ["---"] * (1 + len(MPIS)), *rows_of(samples)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main(words):
    if len(words) != 2 or words[0] != "table":
        print(__doc__, file=sys.stderr)
        return 2
    print(table(words[1]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
