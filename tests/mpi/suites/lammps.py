#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""LAMMPS of Debian with one of its examples: the printed results are the same without huddle, with
it, and with every collective compared. lammps.py --libraries DIR --work DIR

Status 77: LAMMPS, its examples or Open MPI 4 is not installed.
"""
import argparse
import functools
import pathlib
import re
import shutil
import sys

import comparison
import report
import suite
from suite import job, peer_module

SKIPPED = 77
PROGRAM = "lmp"
EXAMPLE = pathlib.Path("/usr/share/lammps/examples/melt/in.melt")
RANKS = (2, 4)
WAYS = {"native": None, **suite.WAYS}
DEADLINE_SECONDS = 900
# The thermodynamic table: a line of names followed by lines of numbers.
HEADING = re.compile(r"^\s*Step\s+\w+")
ROW = re.compile(r"^\s*\d+(\s+[-+\d.eE]+)+\s*$")


def table(text):
    """Returns the rows of the thermodynamic table as lists of words."""
    rows, below = [], False
    for line in text.splitlines():
        below = bool(HEADING.match(line)) or (below and bool(ROW.match(line)))
        if below:
            rows.append(line.split())
    return rows


def run(peer, ranks, way, libraries, work):
    work.mkdir(parents=True, exist_ok=True)
    own = comparison.environment(WAYS[way], libraries)
    arguments = ("-in", EXAMPLE, "-log", work / f"log-{way}-{ranks}")
    return job.run(peer.job(ranks, PROGRAM, arguments, own), peer.environment(), DEADLINE_SECONDS)


def judge(way, done, native):
    """Returns what is wrong, in sentences."""
    findings = [f"{way} said: {line}" for line in report.complaints(done)]
    if not done.in_time or done.status != 0:
        return [*findings, f"{way}: not at its end, status {done.status}\n{done.tail()}"]
    ours, theirs = table(done.out), table(native.out)
    findings += [f"{way}: printed {' '.join(our)}, not {' '.join(their)}"
                 for our, their in zip(ours, theirs) if our != their]
    if len(ours) != len(theirs) or len(ours) < 3:
        findings.append(f"{way}: a table of {len(ours)} lines, not {len(theirs)}")
    return findings + comparison.untaken(way, done, ("bcast", "allreduce"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--work", required=True, help="where logs go")
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    given = parser.parse_args()
    if shutil.which(PROGRAM) is None or not EXAMPLE.exists():
        print("LAMMPS: Debian's packages lammps and lammps-examples are not installed")
        return SKIPPED
    if not suite.present(["openmpi-4"]):
        return SKIPPED
    peer = peer_module.Peer("openmpi-4")
    libraries, work = pathlib.Path(given.libraries).resolve(), pathlib.Path(given.work).resolve()
    findings = []
    for ranks in given.ranks:
        one = functools.partial(run, peer, ranks, libraries=libraries, work=work / "lammps")
        findings += comparison.findings(f"LAMMPS {ranks}", WAYS, one, judge)
    return report.status(findings)


if __name__ == "__main__":
    sys.exit(main())
