#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""EZTrace of Debian, a tool between program and MPI: its trace contains the same collectives with
and without huddle, and huddle handles all of them. eztrace.py --libraries DIR --work DIR

Status 77: EZTrace, otf2-print (which reads its traces) or the MPIs are not installed.
"""
import argparse
import collections
import pathlib
import re
import shutil
import sys

import report
import suite
from suite import job, peer_module

SKIPPED = 77
# EZTrace's names of the MPIs.
MODULES = {"openmpi-4": "openmpi", "mpich-4": "mpich"}
RANKS = 2
CALLS = 20  # per operation in the program
OPERATIONS = ("barrier", "bcast", "allreduce", "allgather")
DEADLINE_SECONDS = 120
SEEN = re.compile(r"^MPI_COLLECTIVE_END .*Operation: (\w+)", re.MULTILINE)
PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs/c"


def traced(peer, program, trace, settings):
    """Returns the job, and the number of collectives of each kind in the trace."""
    shutil.rmtree(trace, ignore_errors=True)
    own = {**suite.OF_NOBODY, **settings}
    command = peer.job(RANKS, "eztrace", ("-t", MODULES[peer.name], "-o", trace, program), own)
    done = job.run(command, peer.environment(), DEADLINE_SECONDS)
    archive = trace / f"{program.name}_trace/eztrace_log.otf2"
    events = job.run(["otf2-print", str(archive)], peer.environment(), DEADLINE_SECONDS)
    return done, collections.Counter(SEEN.findall(events.out))


def findings_under(peer, libraries, work):
    work.mkdir(parents=True, exist_ok=True)
    program = work / "profiled"
    peer.compile_c(program, [PROGRAMS / "profiled.c", PROGRAMS / "expect.c"], ["-lm"])
    _, native = traced(peer, program, work / "native", {})
    done, seen = traced(peer, program, work / "huddle", suite.with_huddle(suite.WAYS["plain"], libraries))
    if not done.in_time or done.status != 0:
        yield f"not at its end, status {done.status}\n{done.tail()}"
    if sum(native.values()) < RANKS * CALLS * len(OPERATIONS) or seen != native:
        yield f"the trace has {dict(seen)}, without huddle {dict(native)}"
    # The tool makes additional calls of its own.
    for operation in OPERATIONS:
        if done.taken(operation) < CALLS:
            yield f"huddle took {done.taken(operation)} of {CALLS} calls of {operation}"
    print(f"{peer.name}: {sum(seen.values())} collectives in the trace, {report.taken(done)} taken of rank 0",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--work", required=True, help="where the program is built and traces are kept")
    given = parser.parse_args()
    missing = [tool for tool in ("eztrace", "otf2-print") if shutil.which(tool) is None]
    if missing:
        print(f"{missing[0]} is not there: Debian's packages eztrace and otf2-tools")
        return SKIPPED
    names = suite.present(list(MODULES))
    if not names:
        return SKIPPED
    libraries = pathlib.Path(given.libraries).resolve()
    work = pathlib.Path(given.work).resolve() / "eztrace"
    findings = [f"{name}: {finding}" for name in names
                for finding in findings_under(peer_module.Peer(name), libraries, work / name)]
    return report.status(findings)


if __name__ == "__main__":
    sys.exit(main())
