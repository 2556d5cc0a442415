# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Results in the format of huddle bench: those of the repository, and made-up ones."""
import copy
import json
import math
import pathlib
import random

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEASURED = ROOT / "bench/results/amd-epyc-2c-1b1d3050-peers-2-ranks.json"
SEED = 20261120
SIZES = [8, 64, 512, 4096, 32768, 262144, 2097152]
OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "alltoall", "reduce_scatter_block"]


def machine_model(cores=16, threads=1):
    """Returns a machine with two sockets of two caches, in which every pair of cores was measured. Second hardware
    threads are numbered after the first ones of all cores."""
    half, quarter = cores // 2, cores // 4
    numbers = list(range(cores))
    one_way = [[0.0 if a == b else 30.0 if a // quarter == b // quarter
                else 60.0 if a // half == b // half else 140.0 for b in numbers] for a in numbers]

    def all_threads(first, count):
        return [thread * cores + core for thread in range(threads) for core in range(first, first + count)]
    caches = [all_threads(first, quarter) for first in range(0, cores, quarter)]
    packages = [all_threads(first, half) for first in (0, half)]
    within = ([("core", 12)] if threads > 1 else []) + [("l3", 30), ("package", 60), ("machine", 140)]
    return {"name": "made-up", "cpu_model": "Made-up Processor", "fingerprint": "made-up",
            "calibrated": True,
            "topology": {"pus": all_threads(0, cores), "offline": [], "cores": cores, "levels": [
                {"name": "core", "groups": [all_threads(one, 1) for one in numbers]},
                {"name": "l3", "groups": caches, "bytes": [1 << 25] * 4},
                {"name": "package", "groups": packages}],
                "numa": [{"number": number, "cpus": group, "bytes": 1 << 36, "memory_only": False,
                          "kind": ""} for number, group in enumerate(packages)],
                "numa_distances": [], "kinds": []},
            "line": [{"level": level, "origin": "measured", "steps_origin": "estimated",
                      "one_way_ns": ns, "shared_ns": ns * 0.7, "reader_step_ns": 1,
                      "writer_step_ns": 1, "spread": 0.02}
                     for level, ns in within],
            "pairs": {"pus": numbers, "one_way_ns": one_way, "sampling": "every pair"},
            "doubts": [{"what": "copy on l3", "why": "spread 13 %"}]}


def _point(draw, operation, size_bytes, number):
    huddle = 200 + size_bytes * 0.03
    ratio = math.exp(draw.uniform(-0.4, 1.3))

    def batches(middle):
        return [[middle * draw.uniform(0.97, 1.05) for _ in range(10)] for _ in range(20)]
    return {"operation": operation, "bytes": size_bytes, "calls_in_a_stretch": 16, "rival": "intel",
            "native_ns": huddle * ratio, "huddle_ns": huddle,
            "estimate": {"ratio": ratio, "low": ratio * 0.97, "high": ratio * 1.03, "batches": 20},
            "stable": number % 9 != 4, "passed_calls": 0, "below_bar": ratio * 1.03 < 0.9,
            "again": [],
            "choice": {"algorithm": "slices", "parameters": "slices of 128K, results returned, plain",
                       "predicted_ns": huddle * 0.9, "others": [
                           {"algorithm": "exchange", "parameters": "", "predicted_ns": huddle * 1.4}]},
            "selection_ns": [huddle * ratio * 1.5, huddle * ratio],
            "native_batches_ns": batches(huddle * ratio), "huddle_batches_ns": batches(huddle),
            "floor_ns": 30 + size_bytes * 0.02}


def document(seed=SEED):
    """Returns the complete results of a run with peers on a calibrated machine."""
    draw = random.Random(seed)
    points = [_point(draw, operation, size_bytes, number)
              for operation in OPERATIONS
              for number, size_bytes in enumerate([0] if operation == "barrier" else SIZES)]
    return {"schema": 1, "command": "bench", "what": "mpi", "huddle": "0.1.0", "machine": "made-up",
            "fingerprint": "made-up", "machine_file": "node.toml", "calibrated": True,
            "mpis": [{"name": "openmpi-5", "version": "Open MPI v5.0.11, package: <b>Open & Shut</b>"},
                     {"name": "intel", "version": "Intel(R) MPI Library 2021.18"}],
            "under": "openmpi-5", "ranks": 16, "oversubscribed": False,
            "settings": {"heap": True, "ops": "", "sizes": "8:4M", "quick": False, "seconds": 90,
                         "peers": "../my peers",
                         "point_seconds": 2.5, "half_width": 0.02, "confidence": 0.95, "bar": 0.9},
            "interrupted": False, "notes": ["mpich-5 did not come up: <script>alert(1)</script>"],
            "points": points, "machine_model": machine_model()}


def of_one_mpi():
    """Returns the results of a run without peers on an uncalibrated machine, in the format of an early version."""
    plain = copy.deepcopy(document())
    plain["mpis"] = plain["mpis"][:1]
    plain.update(calibrated=False, machine_file="", notes=[])
    plain["settings"].update(peers=None, mpi="/opt/mpi/bin/mpiexec --bind-to core")
    for key in ("machine_model",):
        del plain[key]
    for point in plain["points"]:
        for key in ("choice", "selection_ns", "floor_ns"):
            del point[key]
        point["rival"] = "openmpi-5"
    return plain


def film_document():
    """Returns a film of four threads: at first nothing is observed, then two should move, then they have moved."""
    def decision(seconds, reason, seats, pairs, **more):
        return {"time_ns": int(seconds * 1e9), "interval_ms": 200, "reason": reason,
                "text": f"so it is said of {reason}", "threads": [0, 1, 2, 3], "seats": seats,
                "counts": sum(count for _, _, count in pairs), "pairs": pairs, "gives_back": False, **more}
    pairs = [[0, 2, 40.0], [1, 3, 30.0], [0, 1, 0.1]]
    sits = [0, 1, 1, 12]
    return {"schema": 1, "command": "watch", "program": "app.touches", "machine": "made-up",
            "threads": [0, 1, 2, 3], "touches": 70, "replaced": 0, "notes": ["reads are not seen"],
            "moves": False, "pairs": pairs,
            "decisions": [decision(0.2, "too few touches", [0, 4, 8, 12], []),
                          decision(0.5, "move", [0, 4, 8, 12], pairs, present=[0, 4, 8, 12],
                                   wanted=[0, 1, 1, 12], moved=2, saved=0.5, gain_s=1.0, cost_s=0.1),
                          decision(0.9, "best already", sits, pairs, present=sits, wanted=[0, 1, 2, 12],
                                   moved=1, saved=0.0, gain_s=0.0, cost_s=0.0)],
            "compared": {"placements": [{"placement": "order", "processors": [0, 1, 2, 3], "ns": 500.0}],
                         "huddle": {"start": "spread", "verdict": "move", "moves": 1,
                                    "settled_ns": 250.0, "communication_ns": 300.0, "moving_ns": 20.0}},
            "machine_model": machine_model()}


def paths_document():
    """Returns paths of which copying is fastest for small messages and reading for large ones. UCX's constants select
    the wrong path for both."""
    def point(size_bytes, copied_ns, cma_ns, fastest):
        return {"bytes": size_bytes, "fastest": fastest,
                "paths": [{"path": name, "ns": ns, "gb_per_s": size_bytes / ns, "score": 1e9 / ns}
                          for name, ns in (("copied", copied_ns), ("cma", cma_ns))],
                "ucx": [{"from_version": "1.9", "path": "cma", "ns": cma_ns}]}
    return {"schema": 1, "command": "paths", "huddle": "0.1.0", "machine": "made-up <b>", "measured": True,
            "machine_file": "node.toml", "ranks": 16,
            "points": [point(4096.0, 1000.0, 2500.0, "copied"), point(4194304.0, 9e5, 6e5, "cma")]}


def ucx_document():
    """Returns a check with two numbers of ranks, in which a network device carries messages until the settings are
    applied."""
    def point(operation, size_bytes, ratio, huddle_ratio):
        return {"operation": operation, "bytes": size_bytes, "without_ns": 4e6, "with_ns": 4e6 / ratio,
                "ratio": ratio, "low": ratio * 0.98, "high": ratio * 1.02, "batches": 9,
                "huddle_ns": 4e6 / huddle_ratio, "huddle_ratio": huddle_ratio,
                "huddle_low": huddle_ratio * 0.97, "huddle_high": huddle_ratio * 1.03,
                "sent_without": {"lo": 44e6}, "sent_with": {}}

    def runs(ranks, oversubscribed):
        return {"mpi": "mpirun", "mpi_version": "Open MPI v4.1.4", "ranks": ranks, "oversubscribed": oversubscribed,
                "points": [point(operation, size_bytes, 1.3, 2.1)
                           for operation in ("alltoall", "gather") for size_bytes in (65536, 4194304)],
                "dropped": [] if oversubscribed else [{"name": "UCX_POSIX_BW", "why": "gather was slower"}]}
    return {"schema": 2, "command": "ucx --check", "huddle": "0.1.0", "machine": "made-up", "version": "1.22",
            "ranks_per_node": 2, "doubt": "", "untested": [], "omitted": [], "complaints": [], "now": [], "advised": [],
            "settings": [{"name": "UCX_CMA_BW", "value": "9500MBps", "figure": "9.96 GB/s a rank",
                          "replaces": "11145MBps", "reason": "paths are compared by what ranks get"}],
            "network_now": [{"transport": "tcp", "device": "lo", "share": 0.37, "from_bytes": 0,
                             "call": "tagged message"}],
            "network_advised": [], "runs": [runs(2, False), runs(4, True)], "program": None}


def over_ranks(mean):
    return {"min": mean / 2, "mean": mean, "max": mean * 1.5}


def job_row(operation, bytes_per_call, seconds, waiting=None, **more):
    """Returns the statistics of one kind of calls, which the MPI ran unless `more` contains "handled"."""
    row = {"operation": operation, "handled": False, "fallback_reason": "huddle is off", **more, "calls": 2000,
           "bytes_per_call": bytes_per_call, "seconds": over_ranks(seconds)}
    if waiting is not None:
        row.update(waiting_seconds=over_ranks(waiting), transfer_seconds=over_ranks(seconds - waiting),
                   typical_transfer_ns=261.0)
    return row


def job_document():
    """Returns statistics of a job with two communicators. The calls of the second one cannot be divided."""
    handled = {"operation": "bcast", "handled": True, "algorithm": "pipelined", "calls": 199,
               "bytes_per_call": 65536.5, "seconds": over_ranks(0.005), "waiting_seconds": over_ranks(0.001),
               "transfer_seconds": over_ranks(0.004), "typical_transfer_ns": 6770.0}
    predicted = {**job_row("allreduce", 8.0, 0.1, waiting=0.09), "predicted_ns": 50.2,
                 "predicted_saving_seconds": 0.00129}
    return {"schema": 1, "command": "stats", "huddle": "0.1.0", "off": True, "calibrated": False, "ranks": 4,
            "run_seconds": 0.2, "seconds": over_ranks(0.11), "waiting_seconds": over_ranks(0.092),
            "transfer_seconds": over_ranks(0.008), "undivided_seconds": 0.01,
            "latest_rank": {"rank": 1, "share_of_calls": 0.9, "late_ns": 96713.9},
            "predicted_saving_seconds": 0.00129,
            "communicators": [
                {"ranks": [0, 1, 2, 3], "collectives": [
                    predicted, handled, job_row("barrier", 0.0, 1e-6, waiting=0.0)]},
                {"ranks": [0, 2], "collectives": [
                    job_row("reduce_scatter_block", 1048576.0, 0.02, fallback_reason="unsupported datatype",
                            fallback_details="made-up <b>")]}],
            "not_handled": {"MPI_Iallreduce": 3}}


def text(data):
    return json.dumps(data)
