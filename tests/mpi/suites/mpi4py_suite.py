#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs mpi4py's own tests without huddle and with it: every test must end in the same way on every
rank. mpi4py_suite.py --libraries DIR --work DIR [--mpi NAME...] [--ranks N...] [--modules PART...]
[--heap] [--stall-seconds N]

Status 77: no MPI is installed; bench/peers installs them.
"""
import argparse
import pathlib
import sys
import time

import modules
import mpi4py_source
import suite

SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--work", required=True, help="where runs keep what they write")
    parser.add_argument("--mpi", nargs="+", default=modules.MPIS)
    parser.add_argument("--ranks", nargs="+", type=int, default=modules.RANKS)
    parser.add_argument("--modules", nargs="+", choices=modules.MODULES, default=list(modules.MODULES))
    parser.add_argument("--ways", nargs="+", choices=suite.WAYS, default=list(suite.WAYS))
    parser.add_argument("--heap", action="store_true", help="with ranks' buffers in the shared heap")
    parser.add_argument("--stall-seconds", type=float, default=suite.STALL_SECONDS,
                        help="a job in which no test ends for so long is ended; more on a busy machine")
    return parser.parse_args()


def parts(given, mpis):
    return [part for part in modules.all_parts(mpis, given.ranks) if part.modules in given.modules]


def main():
    given = arguments()
    mpis = suite.present(given.mpi)
    if not mpis:
        return SKIPPED
    missing = len(given.mpi) - len(mpis)
    for (mpi, part), why in modules.UNSTEADY.items():
        if mpi in mpis and part in given.modules:
            print(f"{mpi} {part}: left out: {why}")
    work = pathlib.Path(given.work).resolve()
    tests = mpi4py_source.tests(work)
    findings = 0
    for part in parts(given, mpis):
        start = time.monotonic()
        found = suite.Suite(part, tests, work, given.libraries, given.heap,
                            given.stall_seconds).judge(given.ways)
        findings += len(found)
        for finding in found:
            print(f"  FAILED: {part}: {finding}")
        print(f"{part}: {len(found)} findings, {time.monotonic() - start:.0f} s", flush=True)
    return 1 if findings or missing else 0


if __name__ == "__main__":
    sys.exit(main())
