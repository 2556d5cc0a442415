#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Intel MPI Benchmarks, with each collective compared with the MPI's: imb.py --libraries DIR

The binaries use the ABI of MPICH, so they run under Intel MPI and MPICH 5. Their timings are
ignored. Status 77: neither MPI is installed.
"""
import argparse
import os
import pathlib
import sys

import report
import suite
from suite import job, peer_module

SKIPPED = 77
MPIS = ("intel", "mpich-5")
RANKS = (2, 4)
# Twenty calls of each size up to 64 KiB take seconds, except under MPICH 5 with more ranks than
# cores, where every collective takes about 15 ms.
ARGUMENTS = ("-iter", "20", "-msglog", "0:16")
FEW = ("-iter", "3", "-iter_policy", "off", "-msglog", "12:14")
LAST_WORDS = "# All processes entering MPI_Finalize"
DEADLINE_SECONDS = 1800
# IMB has no benchmarks of these.
NOT_MEASURED = ("alltoallw", "scan", "exscan")


def run(mpi, ranks, libraries, passed):
    """Returns what is wrong, in sentences."""
    peer = peer_module.Peer(mpi)
    program = peer_module.Peer("intel").home / "venv/bin/IMB-MPI1"
    own = {**suite.OF_NOBODY, "LD_LIBRARY_PATH": str(peer.home / "venv/lib"),
           **suite.with_huddle({"VERIFY": "1"}, libraries)}
    arguments = FEW if peer.is_mpich() and ranks > len(os.sched_getaffinity(0)) else ARGUMENTS
    done = job.run(peer.job(ranks, program, arguments, own), peer.environment(), DEADLINE_SECONDS)
    findings = [f"said: {line}" for line in report.complaints(done)]
    if not done.in_time or done.status != 0 or LAST_WORDS not in done.out:
        findings.append(f"not at its end, status {done.status}\n{done.tail()}")
    for operation in report.OPERATIONS:
        if operation not in (*NOT_MEASURED, *passed) and done.taken(operation) == 0:
            findings.append(f"huddle took no {operation}: {done.calls(operation)}")
    print(f"IMB-MPI1 {mpi} {ranks}: {report.taken_words(done)}, {len(findings)} findings, "
          f"{done.seconds:.0f} s", flush=True)
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--mpi", nargs="+", default=MPIS)
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    parser.add_argument("--passes", nargs="+", default=(), choices=report.OPERATIONS,
                        help="what huddle leaves to the MPI where ranks are seated so")
    given = parser.parse_args()
    if not suite.present(["intel"]):
        return SKIPPED  # the benchmarks are part of Intel MPI
    mpis = suite.present(given.mpi)
    findings = []
    for mpi in mpis:
        for ranks in given.ranks:
            findings += run(mpi, ranks, pathlib.Path(given.libraries).resolve(), given.passes)
    status = report.status(findings)
    return status if len(mpis) == len(given.mpi) else 1


if __name__ == "__main__":
    sys.exit(main())
