#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""ScaLAPACK's tests of Debian, with each collective compared: Fortran on top of C, communicators
for the rows and columns of process grids, user-defined operators. scalapack.py --libraries DIR

The tests check their own results. Status 77: they or Open MPI 4 are not installed.
"""
import argparse
import pathlib
import re
import sys

import report
import suite
from suite import job, peer_module

SKIPPED = 77
# Factorizations of real and complex matrices, eigenvalues, singular values. (Without xdllt, which
# sometimes hangs under Open MPI 4.1.4 even without huddle.)
PROGRAMS = ("xzlu", "xdinv", "xdsep", "xssvd", "xctrd", "xznep")
RANKS = 4
DEADLINE_SECONDS = 600
FAILED = re.compile(r"^\s*(\d+) tests completed and failed", re.MULTILINE)


def run(peer, folder, program, libraries):
    """Returns what is wrong, in sentences. Runs in the programs' folder, which contains their
    input."""
    own = {**suite.OF_NOBODY, "OMP_NUM_THREADS": "1", **suite.with_huddle(suite.WAYS["verify"], libraries)}
    command = peer.job(RANKS, "env", ("-C", folder, folder / program), own)
    done = job.run(command, peer.environment(), DEADLINE_SECONDS)
    findings = [f"said: {line}" for line in report.complaints(done)]
    if not done.in_time or done.status != 0:
        findings.append(f"not at its end, status {done.status}\n{done.tail()}")
    if any(count != "0" for count in FAILED.findall(done.out)):
        findings.append(f"it finds its results wrong\n{done.tail()}")
    if done.taken("bcast") == 0 or done.taken("allreduce") == 0:
        findings.append("huddle took nothing")
    print(f"ScaLAPACK {program}: {report.taken(done)} collectives taken, {len(findings)} findings, "
          f"{done.seconds:.0f} s", flush=True)
    return [f"{program}: {finding}" for finding in findings]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    given = parser.parse_args()
    folders = sorted(pathlib.Path("/usr/lib").glob("*/scalapack/openmpi-tests"))
    if not folders:
        print("ScaLAPACK: Debian's package scalapack-mpi-test is not installed")
        return SKIPPED
    if not suite.present(["openmpi-4"]):
        return SKIPPED
    peer = peer_module.Peer("openmpi-4")
    libraries = pathlib.Path(given.libraries).resolve()
    findings = [finding for program in PROGRAMS for finding in run(peer, folders[0], program, libraries)]
    return report.status(findings)


if __name__ == "__main__":
    sys.exit(main())
