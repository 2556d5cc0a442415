#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""HDF5 and h5py of Debian: all ranks write files, through both I/O layers of Open MPI. The files
are the same without huddle, with it, with every collective compared, and with the shared heap.
hdf5.py --libraries DIR --work DIR

Status 77: h5py for MPI or Open MPI 4 is not installed.
"""
import argparse
import functools
import pathlib
import sys

import comparison
import report
import suite
from suite import HERE, bench, job, peer_module

SKIPPED = 77
PYTHON = "/usr/bin/python3"  # Debian's Python, which finds Debian's modules
MODULE = pathlib.Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
RANKS = (2, 3, 5)
FILES_BY = ("ompio", "romio321")
WAYS = {"native": None, **suite.WAYS, "heap": {**bench.HEAP_SETTINGS, **suite.WAYS["verify"]}}
DEADLINE_SECONDS = 300
SEED = 20261122


def run(peer, ranks, files_by, way, libraries, work):
    work.mkdir(parents=True, exist_ok=True)
    own = {**comparison.environment(WAYS[way], libraries), "OMPI_MCA_io": files_by}
    arguments = ("-B", HERE / "hdf5_files.py", work / f"{files_by}-{way}-{ranks}.h5", SEED)
    return job.run(peer.job(ranks, PYTHON, arguments, own), peer.environment(), DEADLINE_SECONDS)


def judge(way, done, native):
    """Returns what is wrong, in sentences."""
    findings = [f"{way} said: {line}" for line in report.complaints(done)]
    if not done.in_time or done.status != 0 or not done.out.startswith("digest"):
        return [*findings, f"{way}: not at its end, status {done.status}\n{done.tail()}"]
    if done.out != native.out:
        findings.append(f"{way}: {done.out.strip()}, not {native.out.strip()}")
    return findings + comparison.untaken(way, done, ("barrier", "allreduce"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", required=True, help="the folder of libhuddle_preload.so")
    parser.add_argument("--work", required=True, help="where files are written")
    given = parser.parse_args()
    if not MODULE.exists():
        print("HDF5: Debian's package python3-h5py-mpi is not installed")
        return SKIPPED
    if not suite.present(["openmpi-4"]):
        return SKIPPED
    peer = peer_module.Peer("openmpi-4")
    libraries, work = pathlib.Path(given.libraries).resolve(), pathlib.Path(given.work).resolve()
    findings = []
    for ranks, files_by in ((ranks, files_by) for ranks in RANKS for files_by in FILES_BY):
        one = functools.partial(run, peer, ranks, files_by, libraries=libraries, work=work / "hdf5")
        findings += comparison.findings(f"HDF5 {ranks} {files_by}", WAYS, one, judge)
    return report.status(findings)


if __name__ == "__main__":
    sys.exit(main())
