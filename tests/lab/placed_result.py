#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks a second run against the output of huddle map: placed_result.py NAME FIRST MAP AGAIN OUTPUT.

FIRST and AGAIN are profiles of the same program. MAP is the output of huddle map --json for the first. OUTPUT is the
output of the second run, in which each rank prints where it ran.
"""
import json
import pathlib
import re
import sys


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def between_hosts(entries, hosts):
    return sum(size for sender, to, size, _ in entries if hosts[sender] != hosts[to])


def main():
    name, first, placed, again = sys.argv[1], load(sys.argv[2]), load(sys.argv[3]), load(sys.argv[4])
    output = pathlib.Path(sys.argv[5]).read_text(encoding="utf-8", errors="replace")
    wanted = {seat["element"]: (placed["hosts"][seat["node"]], str(seat["processor"]))
              for seat in placed["placement"]}
    ran = {int(rank): (host, processors)
           for rank, host, processors in re.findall(r"^rank (\d+) on (\S+) at (\S+)$", output, re.MULTILINE)}
    # The host file of MPICH's launcher binds no rank, so only hosts are compared.
    if name.startswith("mpich"):
        ran = {rank: (host, wanted[rank][1]) for rank, (host, _) in ran.items()}
    findings = []
    if ran != wanted:
        findings.append(f"ranks ran at {ran}, and were to run at {wanted}")
    if first["entries"] != again["entries"]:
        findings.append("the program sent something else the second time")
    before = between_hosts(first["entries"], first["hosts"])
    predicted = between_hosts(first["entries"], [wanted[rank][0] for rank in range(first["n"])])
    counted = between_hosts(again["entries"], again["hosts"])
    said = [level["share"] for level in placed["after"]["levels"] if level["level"] == "network"]
    total = sum(entry[2] for entry in first["entries"])
    if counted != predicted or round(said[0] * total) != predicted:
        findings.append(f"{counted} bytes between hosts, predicted were {predicted} ({said[0] * total})")
    if not predicted < before:
        findings.append(f"{before} bytes between hosts do not become fewer: {predicted}")
    for finding in findings:
        print(f"FAILED: {name}: {finding}", file=sys.stderr)
    print(f"{name}: {before} bytes between hosts, then {counted}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
