#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks that `huddle run` intercepts no point-to-point or one-sided calls, and that `huddle profile` intercepts all.

Usage: symbols_test.py RUN PROFILE, the two preloaded libraries."""
import pathlib
import re
import subprocess
import sys

CALLS = pathlib.Path(__file__).resolve().parents[3] / "src/placement/profile/stub/profiled_calls.h"
SENDS = ("HUDDLE_PROFILE_SENDS", "HUDDLE_PROFILE_NEW_SENDS", "HUDDLE_PROFILE_ONE_SIDED",
         "HUDDLE_PROFILE_NEW_ONE_SIDED")
# Calls that send, in case the lists in calls.h are incomplete.
KNOWN = {"Send", "Isend", "Ssend", "Rsend", "Bsend", "Sendrecv", "Send_init", "Start", "Put", "Get", "Accumulate"}


def exported(library):
    printed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                             text=True).stdout
    return {line.split()[-1].split("@")[0] for line in printed.splitlines()}


def sends():
    text = CALLS.read_text(encoding="utf-8").replace("\\\n", " ")
    lists = [re.search(rf"#define {name}\(CALL\)(.*)", text)[1] for name in SENDS]
    return {call for one in lists for call in re.findall(r"CALL\((\w+), \d+\)", one)}


def main():
    run, profile = exported(sys.argv[1]), exported(sys.argv[2])
    calls = sends()
    names = {f"{prefix}MPI_{call}" for call in calls for prefix in ("", "P")}
    findings = []
    if not KNOWN <= calls:
        findings.append(f"{CALLS.name} lacks {sorted(KNOWN - calls)}")
    if names & run:
        findings.append(f"{sys.argv[1]} stands in front of {sorted(names & run)}")
    if names - profile:
        findings.append(f"{sys.argv[2]} does not stand in front of {sorted(names - profile)}")
    print("\n".join(findings) or f"{len(names)} names: all in front of a profiled program, none of a run")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
