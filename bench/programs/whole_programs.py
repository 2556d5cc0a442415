#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Measures the speedup of whole programs from start to end, alternately with and without huddle.

    whole_programs.py run HUDDLE RESULT.json    runs the installed programs and writes the samples
    whole_programs.py table RESULT.json         prints the table of the documents, in Markdown

Each program runs by `huddle run --compare`, a few rounds at a time, until the interval of the ratios is narrower
than --width or --rounds are complete. One more run without huddle measures the share of blocking collectives.
Prints the names of programs that are not installed, and skips them.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from huddle.statistics import median_interval  # noqa: E402
from huddle.words import joined, ratio_text  # noqa: E402
from programs import PROGRAMS  # noqa: E402

CONFIDENCE = 0.95
ROUNDS_AT_A_TIME = 6  # the minimum for an interval with that confidence
SHARE = re.compile(r"blocking collectives took .* of the .* from MPI_Init to MPI_Finalize \((\d+) %\)")
# By default Open MPI refuses to run as root or with more ranks than cores. One thread per rank.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def environment_of(program):
    return {**os.environ, **ENVIRONMENT, **program.environment}


def run(huddle, options, program, ranks, work):
    command = [huddle, "run", *options, "mpirun", "-n", str(ranks), *program.words]
    return subprocess.run(command, cwd=work, env=environment_of(program), text=True, check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def share_of_collectives(huddle, program, ranks, work):
    said = SHARE.search(run(huddle, ["--off", "-v"], program, ranks, work).stderr)
    return int(said[1]) / 100 if said else None


def interval_of(measured):
    ratios = [native / ours for native, ours in
              zip(measured["native"]["wall_seconds"], measured["huddle"]["wall_seconds"])]
    return median_interval(ratios, CONFIDENCE)


def measure(huddle, program, ranks, heap, work, given):
    measured = {side: {"wall_seconds": [], "cpu_seconds": []} for side in ("native", "huddle")}
    while len(measured["native"]["wall_seconds"]) < given.rounds:
        options = ["--compare", str(ROUNDS_AT_A_TIME), "--json", "--progress", "never", "--heap", heap]
        if given.machine:
            options += ["--machine", given.machine]
        some = json.loads(run(huddle, options, program, ranks, work).stdout)
        for side, samples in measured.items():
            for name, seconds in samples.items():
                seconds += some[side][name]
        ratio = interval_of(measured)
        print(f"  heap {heap}: {ratio.middle:.3f} ({ratio.low:.3f} to {ratio.high:.3f})", file=sys.stderr, flush=True)
        if ratio.high - ratio.low < given.width:
            break
    return {**measured, "taken": some["taken"]}


def machine_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines():
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return f"{os.cpu_count()} cores"


def run_all(given):
    huddle = str(pathlib.Path(given.huddle).resolve())
    runs = []
    for program in PROGRAMS:
        if given.only and program.name not in given.only:
            continue
        if not program.installed():
            print(f"{program.name}: not installed ({' '.join(program.packages)})", file=sys.stderr)
            continue
        for ranks in given.ranks:
            print(f"{program.name}, {ranks} ranks", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix="huddle-programs-") as folder:
                work = pathlib.Path(folder)
                program.prepare(work, ranks, environment_of(program))
                share = share_of_collectives(huddle, program, ranks, work)
                for heap in given.heap:
                    runs.append({"program": program.name, "kind": program.kind, "ranks": ranks, "heap": heap,
                                 "share_of_collectives": share,
                                 **measure(huddle, program, ranks, heap, work, given)})
            given.result.write_text(json.dumps({"schema": 1, "command": "whole programs", "machine": machine_name(),
                                                "runs": runs}) + "\n", encoding="utf-8")
    if not runs:
        sys.exit("whole_programs.py: none of the programs is installed")


def cell(measured):
    ratio = interval_of(measured)
    return f"{ratio_text(ratio.middle)} ({ratio_text(ratio.low)}–{ratio_text(ratio.high)})"


def percent(share):
    return "–" if share is None else f"{share:.0%}".replace("%", " %")


def table(given):
    result = json.loads(given.result.read_text(encoding="utf-8"))
    runs = result["runs"]
    heaps = sorted({one["heap"] for one in runs})
    ways = {(one["program"], one["ranks"]): {} for one in runs}
    for one in runs:
        ways[one["program"], one["ranks"]][one["heap"]] = one
    print(f"{result['machine']}. Wall time without huddle over that with it, median and interval "
          f"({CONFIDENCE:.0%}); above 1 huddle is faster.\n".replace("95%", "95 %"))
    print("| program | kind | ranks | in collectives | native | " + " | ".join(f"heap {heap}" for heap in heaps) + " |")
    print("|" + "---|" * (5 + len(heaps)))
    for (name, ranks), by_heap in ways.items():
        first = next(iter(by_heap.values()))
        native = statistics.median(second for one in by_heap.values() for second in one["native"]["wall_seconds"])
        cells = [cell(by_heap[heap]) if heap in by_heap else "" for heap in heaps]
        print(f"| {name} | {first['kind']} | {ranks} | {percent(first['share_of_collectives'])} | {native:.1f} s | "
              f"{' | '.join(cells)} |")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", help="run what is installed")
    one.add_argument("huddle", help="the program huddle of a build")
    one.add_argument("result", type=pathlib.Path, help="the file of samples to write")
    one.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    one.add_argument("--heap", nargs="+", default=["off", "on"], choices=["off", "on", "auto"])
    one.add_argument("--machine", help="the machine file to decide by")
    one.add_argument("--only", nargs="+", choices=[program.name for program in PROGRAMS], metavar="PROGRAM",
                     help=f"some of {joined(program.name for program in PROGRAMS)}")
    one.add_argument("--width", type=float, default=0.02, help="an interval narrower than this is enough")
    one.add_argument("--rounds", type=int, default=24, help="at most so many each way")
    other = commands.add_parser("table", help="print the table")
    other.add_argument("result", type=pathlib.Path)
    return parser.parse_args()


def main():
    given = parse()
    if given.command == "run":
        run_all(given)
    else:
        table(given)


if __name__ == "__main__":
    main()
