#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Checks results of the portable folder: they are complete and do not reveal the host: portable_result.py FILE...

portable_result.py --in-heap FILE...: also checks that a path of some point uses the shared heap.
"""
import json
import sys


def ways(point):
    return [choice["parameters"] for choice in (point["choice"], *point["choice"]["others"])]


def check(name):
    with open(name, encoding="utf-8") as file:
        report = json.load(file)
    assert report["calibrated"] and not report["interrupted"], report
    assert "/" not in report["machine_file"], f"a path of the host: {report['machine_file']}"
    if report["what"] == "engine":
        return f"{len(report['contests'])} contests"
    assert [mpi["name"] for mpi in report["mpis"]] == ["openmpi-5", "mpich-5"], report["mpis"]
    assert not report["notes"], report["notes"]
    points = report["points"]
    run_by_mpi = [(point["operation"], point["bytes"]) for point in points if point["passed_calls"] > 0]
    assert not run_by_mpi, f"the MPI ran calls: {run_by_mpi}"
    if not must_be_in_heap:  # a result of `measure`
        assert report["settings"]["peers"] == "huddle-portable/peers", report["settings"]
    assert report["settings"]["heap"] == name.endswith("-heap.json"), report["settings"]
    in_heap = any("heap" in way for point in points for way in ways(point))
    # Even if the heap is on, the kernel's path may be better, and only the better one is named.
    assert report["settings"]["heap"] or not in_heap, points
    assert in_heap or not must_be_in_heap, points
    return f"{len(points)} points{', in the shared heap' if in_heap else ''}"


must_be_in_heap = sys.argv[1] == "--in-heap"
for path in sys.argv[1 + must_be_in_heap :]:
    print(f"{path.rsplit('/', 1)[-1]}: {check(path)}")
