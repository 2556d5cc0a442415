#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Solvers of Debian's PETSc, and of hypre and MUMPS through it: the results are the same without
huddle, with it, with every collective compared, and with the shared heap. petsc.py --libraries DIR

Status 77: petsc4py or Open MPI 4 is not installed.
"""
import argparse
import functools
import itertools
import pathlib
import sys

import comparison
import report
import suite
from suite import HERE, bench, job, peer_module

SKIPPED = 77
PYTHON = "/usr/bin/python3"  # Debian's Python, which finds Debian's modules
RANKS = (2, 3, 4)
WAYS = {"native": None, **suite.WAYS, "heap": {**bench.HEAP_SETTINGS, **suite.WAYS["verify"]}}
DEADLINE_SECONDS = 300


def run(peer, ranks, way, libraries, modules):
    own = {**comparison.environment(WAYS[way], libraries), "OPENBLAS_NUM_THREADS": "1",
           "PYTHONPATH": modules}
    arguments = ("-B", HERE / "petsc_solvers.py")
    return job.run(peer.job(ranks, PYTHON, arguments, own), peer.environment(), DEADLINE_SECONDS)


def judge(way, done, native):
    """Returns what is wrong, in sentences."""
    findings = [f"{way} said: {line}" for line in report.complaints(done)]
    if not done.in_time or done.status != 0 or not done.out.endswith("end\n"):
        return [*findings, f"{way}: not at its end, status {done.status}\n{done.tail()}"]
    found, expected = done.out.splitlines(), native.out.splitlines()
    findings += [f"{way}: {line}, not {natively}" for line, natively in itertools.zip_longest(found, expected)
                 if line != natively]
    if done.left:
        findings.append(f"{way}: left {', '.join(done.left)}")
    return findings + comparison.untaken(way, done, ("bcast", "allreduce", "allgather"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    given = parser.parse_args()
    modules = sorted(pathlib.Path("/usr/lib/petscdir").glob("*/*-real/lib/python3/dist-packages"))
    if not modules:
        print("PETSc: Debian's package python3-petsc4py-real is not installed")
        return SKIPPED
    if not suite.present(["openmpi-4"]):
        return SKIPPED
    peer = peer_module.Peer("openmpi-4")
    libraries = pathlib.Path(given.libraries).resolve()
    findings = []
    for ranks in RANKS:
        one = functools.partial(run, peer, ranks, libraries=libraries, modules=modules[0])
        findings += comparison.findings(f"PETSc {ranks}", WAYS, one, judge)
    return report.status(findings)


if __name__ == "__main__":
    sys.exit(main())
