#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""MPICH's own tests of collectives, communicators and errors, with huddle active from the first
call, and with every collective compared: tests that succeed without huddle must succeed with it.
mpich_tests.py --libraries DIR --work DIR [--mpi NAME...] [--folders NAME...] [--ranks N...]

Status 77: no MPI or no source is available.
"""
import argparse
import pathlib
import re
import sys

import mpich_source
import report
import suite
from suite import bench, job, peer_module

SKIPPED = 77
MPIS = ("mpich-4", "openmpi-4")
FOLDERS = ("coll", "comm", "topo", "attr", "errhan", "errors/coll", "threads/coll", "threads/comm")
WAYS = {**suite.WAYS, "heap": {**bench.HEAP_SETTINGS, **suite.WAYS["plain"]}}
# Prefixes of tests that are left out, with the reason.
LEFT_OUT = (
    # Only the root gets an error, and then makes a call that no other rank makes, or has made the
    # first one alone. huddle takes part on the root so that the others can continue.
    "errors/coll/noalias",
    # The ranks pass different sizes to a broadcast, which huddle does not check.
    "errors/coll/bcastlength",
)
# Results differ if a sum overflows: Open MPI returns the largest integer, and huddle wraps as C
# does.
LEFT_OUT_OF_OPEN_MPI = ("coll/allred 4 -count=100",)
# Successful tests print only this.
FINE = re.compile(r"^\s*(No [Ee]rrors|Test [Pp]assed)\s*$")
# Multiplies the time limits of the lists, for busy machines.
PATIENCE = 3


class Suite:
    def __init__(self, build, libraries):
        self.build = build
        self.peer = build.peer
        self.libraries = libraries
        self.taken = 0
        self.between_nodes = 0

    def judge(self, case, ways):
        """Returns what is wrong, in sentences. Runs the case without huddle only if it fails."""
        findings = []
        for way in ways:
            done = self._run(case, way)
            self.taken += report.taken(done)
            self.between_nodes += report.taken_between_nodes(done)
            # huddle may report errors of erroneous programs.
            said = [] if case.folder.startswith("errors") else report.complaints(done)
            said = [f"said: {line}" for line in said]
            if not is_fine(done):
                if not is_fine(self._run(case, None)):
                    print(f"  {case}: does not end well without huddle either", flush=True)
                    return findings
                said.append(f"in time: {done.in_time}, status {done.status}\n{done.tail()}")
            if done.left:
                said.append(f"left {', '.join(done.left)}")
            findings += [f"{self.peer.name}: {case}: {way}: {sentence}" for sentence in said]
        return findings

    def _run(self, case, way):
        own = {**suite.OF_NOBODY, **dict(pair.split("=", 1) for pair in case.environment)}
        if way is not None:
            own.update(suite.with_huddle(WAYS[way], self.libraries))
        program = self.build.path(case.folder, case.program)
        arguments = ("-C", program.parent, program, *case.arguments)  # some read files in their
                                                                      # folder
        return job.run(self.peer.job(case.ranks, "env", arguments, own), self.peer.environment(),
                       PATIENCE * case.seconds)


def is_fine(done):
    lines = [line for line in done.out.splitlines() if line.strip()]
    return done.in_time and done.status == 0 and bool(lines) and all(map(FINE.match, lines))


def cases_of(build, folder, ranks):
    left_out = LEFT_OUT + (LEFT_OUT_OF_OPEN_MPI if build.peer.is_open_mpi() else ())
    cases = [case for case in build.cases(folder) if not str(case).startswith(left_out)]
    missing = build.make(folder, sorted({case.program for case in cases}))
    if missing:
        print(f"{build.peer.name}: {folder}: not built: {', '.join(missing)}", flush=True)
    cases = [case for case in cases if case.program not in missing]
    if ranks:
        cases = [mpich_source.dataclasses.replace(case, ranks=count) for case in cases for count in ranks]
    return list(dict.fromkeys(cases))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--work", required=True, help="where the tests are built")
    parser.add_argument("--mpi", nargs="+", default=MPIS)
    parser.add_argument("--folders", nargs="+", default=FOLDERS)
    parser.add_argument("--ranks", nargs="+", type=int, help="not as many as the lists say, but so many")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(suite.WAYS))
    given = parser.parse_args()
    mpis = suite.present(given.mpi)
    if not mpis:
        return SKIPPED
    work, libraries = (pathlib.Path(path).resolve() for path in (given.work, given.libraries))
    try:
        source = mpich_source.tests(work)
    except mpich_source.Missing as why:
        print(f"MPICH's tests: {why}")
        return SKIPPED
    findings = []
    for mpi in mpis:
        build = mpich_source.Build(source, peer_module.Peer(mpi), work)
        build.configure()
        tests = Suite(build, libraries)
        for folder in given.folders:
            cases = cases_of(build, folder, given.ranks)
            found = [finding for case in cases for finding in tests.judge(case, given.ways)]
            findings += found
            for finding in found:
                print(f"  FAILED: {finding}")
            print(f"{mpi}: {folder}: {len(cases)} tests, {len(found)} findings", flush=True)
        print(f"{mpi}: {report.words(tests.taken, tests.between_nodes)}", flush=True)
    return 1 if findings or len(mpis) < len(given.mpi) else 0


if __name__ == "__main__":
    sys.exit(main())
