#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs programs under real MPIs with huddle's library preloaded: driver.py [--level LEVEL] [--only
GROUP]... [--heap [check]] MPI...

MPI: openmpi-4 openmpi-5 mpich-4 mpich-5 intel, mpich-5-standard intel-standard; all: each of them.
Status 77: none of them is installed.
"""
import argparse
import pathlib
import sys
import time

import bench as bench_module
import bindings
import deaths
import devices
import different_counts
import exchanges
import halves
import heaps
import languages
import lifetimes
import peer as peer_module
import profiles
import progress
import refusals
import reports
import semantics
import strangers
import tools
import tuning
import unusual
import verify

GROUPS = {
    "progress": progress.run,
    "datatypes": semantics.datatypes,
    "operators": semantics.operators,
    "pairs": semantics.pairs,
    "buffers": semantics.buffers,
    "exchanges": exchanges.exchanges,
    "blocks": exchanges.blocks,
    "verify": verify.verify,
    "validated": exchanges.validated,
    "at root": exchanges.at_root,
    "sizes": exchanges.sizes,
    "large": semantics.large,
    "communicators": semantics.communicators,
    "lives": lifetimes.lives,
    "churn": lifetimes.churn,
    "attributes": lifetimes.attributes,
    "pools": lifetimes.pools,
    "threads": lifetimes.threads,
    "thread levels": lifetimes.thread_levels,
    "little stacks": lifetimes.little_stacks,
    "children": lifetimes.children,
    "sessions": lifetimes.sessions,
    "late loading": lifetimes.late_loading,
    "spawn": lifetimes.spawn,
    "errors": lifetimes.errors,
    "different counts": different_counts.different_counts,
    "fortran": languages.fortran,
    "clang": languages.clang,
    "tools": tools.tools,
    "files": tools.files,
    "profiles": profiles.run,
    "deaths": deaths.deaths,
    "devices": devices.devices,
    "halves": halves.halves,
    "bindings": bindings.bindings,
    "heaps": heaps.heaps,
    "reports": reports.reports,
    "tuning": tuning.tuning,
    "repeats": tuning.repeats,
    "strangers": strangers.strangers,
    "refusals": refusals.refusals,
    "other libm": refusals.other_libm,
    "unusual arguments": unusual.arguments,
    "environments": unusual.environments,
    "old kernel": unusual.old_kernel,
}
MPIS = ("openmpi-4", "openmpi-5", "mpich-4", "mpich-5", "intel", "mpich-5-standard", "intel-standard")
# `make test` runs these under Debian's MPIs: a minute for both.
CORE = ("datatypes", "pairs", "exchanges", "blocks", "sizes", "communicators", "attributes", "threads", "errors",
        "children", "tools", "halves", "bindings", "reports", "tuning",
        "repeats", "unusual arguments", "environments", "old kernel", "late loading")
# `make test-deep` runs these under the other MPIs, and all groups under Debian's.
BRIEF = ("progress", "datatypes", "pairs", "exchanges", "blocks", "sizes", "verify", "validated", "communicators",
         "attributes", "errors", "different counts", "little stacks", "tools", "halves", "bindings", "sessions",
         "heaps", "devices", "profiles", "reports", "tuning", "repeats", "unusual arguments", "environments",
         "old kernel", "late loading")
# For the standard ABI of the same MPIs: only the layout of data and handles differs.
BRIEF_STANDARD = ("datatypes", "pairs", "exchanges", "blocks", "communicators", "errors", "profiles")
SKIPPED = 77
BUILD = pathlib.Path(__file__).resolve().parents[3] / "build/release"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpi", nargs="+", choices=(*MPIS, "all"))
    parser.add_argument("--level", choices=("core", "brief", "usual", "thorough"), default="usual")
    parser.add_argument("--only", choices=sorted(GROUPS), action="append")
    parser.add_argument("--heap", nargs="?", const="on", choices=("on", "check"),
                        help="with ranks' buffers in the shared heap")
    parser.add_argument("--libraries", help="the folder of libhuddle_preload.so",
                        default=BUILD / "lib/huddle")
    parser.add_argument("--still", help="that of the library without progress",
                        default=BUILD / "tests/mpi/programs/still")
    parser.add_argument("--wrong", help="that of the library whose results are wrong",
                        default=BUILD / "tests/mpi/programs/wrong")
    parser.add_argument("--build", help="where programs are built", default=BUILD / "tests/mpi/programs")
    return parser.parse_args()


def groups_of(given, peer):
    if given.only:
        return given.only
    if given.level == "core":
        return CORE
    if given.level == "brief":
        return BRIEF_STANDARD if peer.is_standard else BRIEF
    return GROUPS


def test(peer, given):
    """Returns the number of findings, or None if the MPI is not installed."""
    if peer.lacks():
        print(f"{peer.name}: skipped: {peer.lacks()}")
        return None
    bench = bench_module.Bench(peer, given.libraries, given.still, given.wrong,
                               given.build, given.heap)
    for name in groups_of(given, peer):
        start = time.monotonic()
        try:
            GROUPS[name](bench, given.level == "thorough")
        except RuntimeError as error:
            bench.expect(False, f"{name}: {error}")
        print(f"{peer.name}: {name}: {time.monotonic() - start:.1f} s", flush=True)
    print(f"{peer.name}: {len(bench.findings)} findings")
    return len(bench.findings)


def main():
    given = arguments()
    names = MPIS if "all" in given.mpi else given.mpi
    findings = [test(peer_module.Peer(name), given) for name in names]
    if all(found is None for found in findings):
        return SKIPPED
    return 1 if any(findings) else 0


if __name__ == "__main__":
    sys.exit(main())
