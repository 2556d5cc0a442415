#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Measures which calls of whole programs fall back to the MPI, and how long they take.

    passed.py run HUDDLE RESULT.json    runs the installed programs under Open MPI and writes their results;
                                        keeps the file's results of other programs
    passed.py table RESULT.json         prints the table in docs/reductions.md

Each program runs once by `huddle run --stats` with collective_time.c preloaded, which times every collective,
the calls that wait for a nonblocking one, and the interval between its start and these.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from programs import PROGRAMS
from whole_programs import environment_of, machine_name

HERE = pathlib.Path(__file__).resolve().parent
# A solver that uses nonblocking reductions.
PIPELINED = [dataclasses.replace(one, name="PETSc, pipelined CG",
                                 environment={**one.environment, "PETSC_OPTIONS": "-ksp_type pipecg"})
             for one in PROGRAMS if one.name == "PETSc"]
# A line of the statistics: operation, calls, bytes, seconds, fallback reason.
PASSED = re.compile(r"^(\w+) +(\d+) +\d+ +([\d.]+)  MPI: (.+)$", re.MULTILINE)


def kind_of(name):
    """Returns the name under which the statistics count collectives that huddle never intercepts."""
    if "eighbor_" in name:
        return "neighborhood"
    if "_init" in name:
        return "persistent"
    return "nonblocking" if name.startswith("MPI_I") else "blocking"


def timed(file):
    """Returns the calls and seconds of rank 0 by name, from a file of collective_time.c."""
    rows = {}
    for line in file.read_text(encoding="ascii").splitlines():
        name, calls, inside, between = line.split()
        rows[name] = {"calls": int(calls), "inside": float(inside), "between": float(between)}
    for name in ("MPI_Alloc_mem", "MPI_Free_mem", "MPI_Win_test"):
        rows.pop(name, None)  # huddle defines these, but they are not collectives
    return rows


def run(huddle, clock, program, ranks, work):
    program.prepare(work, ranks, environment_of(program))
    file = work / "collective_time"
    environment = {**environment_of(program), "COLLECTIVE_TIME": str(file), "LD_PRELOAD": str(clock)}
    command = [huddle, "run", "--stats", "mpirun", "-n", str(ranks), *program.words]
    done = subprocess.run(command, cwd=work, env=environment, text=True, check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    rows = timed(file)
    whole = rows.pop("run")["inside"]
    passed = {}
    for _, calls, seconds, why in PASSED.findall(done.stderr):
        some = passed.setdefault(why.split(": ")[0], {"calls": 0, "seconds": 0})
        some["calls"] += int(calls)
        some["seconds"] += float(seconds)
    return {"program": program.name, "kind": program.kind, "ranks": ranks, "seconds": whole,
            "collectives": rows, "blocking_passed": passed}


def run_all(given):
    runs = json.loads(given.result.read_text(encoding="utf-8"))["runs"] if given.result.exists() else []
    huddle = str(pathlib.Path(given.huddle).resolve())
    with tempfile.TemporaryDirectory(prefix="huddle-passed-") as folder:
        clock = pathlib.Path(folder) / "libcollective_time.so"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", clock, HERE / "collective_time.c", "-ldl"], check=True)
        for program in (*PROGRAMS, *PIPELINED):
            if given.only and program.name not in given.only:
                continue
            if not program.installed():
                print(f"{program.name}: not installed ({' '.join(program.packages)})", file=sys.stderr)
                continue
            for ranks in given.ranks:
                print(f"{program.name}, {ranks} ranks", file=sys.stderr, flush=True)
                with tempfile.TemporaryDirectory(dir=folder) as work:
                    seen = run(huddle, clock, program, ranks, pathlib.Path(work))
                runs = [one for one in runs if (one["program"], one["ranks"]) != (program.name, ranks)] + [seen]
    given.result.write_text(json.dumps({"schema": 1, "command": "passed", "machine": machine_name(), "runs": runs},
                                       indent=1) + "\n", encoding="utf-8")


def percent(part, whole):
    return f"{part / whole * 100:.1f} %" if whole > 0 else "-"


def names_of(rows):
    """Returns the names with their calls as text, those that took longest first."""
    ordered = sorted(rows, key=lambda name: -rows[name]["inside"])
    return ", ".join(f"`{name}` {rows[name]['calls']:,}" for name in ordered) or "none"


def cells_of(one):
    rows = one["collectives"]
    of_kind = {kind: {name: row for name, row in rows.items() if kind_of(name) == kind}
               for kind in ("blocking", "nonblocking", "persistent", "neighborhood")}
    others = {name: row for kind, some in of_kind.items() if kind != "blocking" for name, row in some.items()}
    all_seconds = sum(row["inside"] for row in rows.values())
    passed = one["blocking_passed"]
    seconds_passed = sum(some["seconds"] for some in passed.values())
    reasons = ", ".join(f"{why}: {some['calls']:,}" for why, some in
                        sorted(passed.items(), key=lambda item: -item[1]["calls"])) or "none"
    return [one["program"], str(one["ranks"]), percent(all_seconds, one["seconds"]),
            percent(seconds_passed, all_seconds), reasons,
            percent(sum(row["inside"] for row in others.values()), all_seconds), names_of(others)]


def table(given):
    result = json.loads(given.result.read_text(encoding="utf-8"))
    head = ["program", "ranks", "collectives, of the run", "blocking, left to the MPI, of these", "why (calls)",
            "not blocking, of these", "which (calls)"]
    rows = [head, ["---"] * len(head), *map(cells_of, result["runs"])]
    print("".join(f"| {' | '.join(row)} |\n" for row in rows), end="")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", help="run what is installed")
    one.add_argument("huddle", help="the program huddle of a build")
    one.add_argument("result", type=pathlib.Path, help="the file to write")
    one.add_argument("--ranks", nargs="+", type=int, default=[2])
    one.add_argument("--only", nargs="+", metavar="PROGRAM")
    one.set_defaults(do=run_all)
    two = commands.add_parser("table", help="make the table")
    two.add_argument("result", type=pathlib.Path)
    two.set_defaults(do=table)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = parse()
    arguments.do(arguments)
