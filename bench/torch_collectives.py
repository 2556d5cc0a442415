#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Times collectives of torch.distributed by huddle and by Gloo: torch_collectives.py [--ranks N] [--json FILE]

Both back ends run in the same processes. In each round they take turns in random order; a turn repeats one collective
for about --turn-ms. Prints the median time of a call over the rounds, and the 10th and 90th percentiles of the ratio of
the two turns of a round. The sizes are those of a rank's larger buffer.
"""
import argparse
import json
import os
import pathlib
import platform
import random
import socket
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import multiprocessing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

BACK_ENDS = ("gloo", "huddle")
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
SIZES = [4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 32 << 20]


def allreduce(elements, dtype, group):
    data = torch.zeros(elements, dtype=dtype)
    return lambda: dist.all_reduce(data, group=group)


def allgather(elements, dtype, group):
    whole = torch.zeros(elements, dtype=dtype)
    part, outputs = whole[:elements // group.size()].clone(), list(whole.chunk(group.size()))
    return lambda: dist.all_gather(outputs, part, group=group)


def reduce_scatter(elements, dtype, group):
    whole = torch.zeros(elements, dtype=dtype)
    part = whole[:elements // group.size()].clone()
    function = getattr(dist, "reduce_scatter_tensor", None) or dist._reduce_scatter_base
    return lambda: function(part, whole, group=group)


def all_to_all(elements, dtype, group):
    given = torch.zeros(elements, dtype=dtype)
    output = torch.zeros(elements, dtype=dtype)
    return lambda: dist.all_to_all_single(output, given, group=group)


OPERATIONS = {"allreduce": allreduce, "allgather": allgather, "reduce_scatter": reduce_scatter,
              "all_to_all": all_to_all}


def turn(call, repetitions):
    """Returns the mean time of a call in microseconds."""
    dist.barrier()
    start = time.perf_counter()
    for _ in range(repetitions):
        call()
    return (time.perf_counter() - start) / repetitions * 1e6


def repetitions_for(call, turn_ms):
    """Returns how often all ranks repeat a call in a turn. Throws what the call throws."""
    call()
    count = torch.tensor([max(3, min(2000, int(turn_ms * 1000 / max(turn(call, 3), 1))))])
    dist.broadcast(count, 0)
    return count.item()


def measure(make, elements, dtype, groups, options, order):
    """Returns the times of all turns by back end, on rank 0's clock; empty for one that does not have the call."""
    calls, times = {}, {name: [] for name in BACK_ENDS}
    for name in BACK_ENDS:
        call = make(elements, dtype, groups[name])
        try:
            calls[name] = call, repetitions_for(call, options.turn_ms)
        except (RuntimeError, ValueError):
            pass  # thrown on all ranks, before any communication
    for _ in range(options.rounds):
        for name in order.sample(sorted(calls), len(calls)):
            times[name].append(turn(*calls[name]))
    return times


def row(operation, dtype, size, times):
    entry = {"operation": operation, "type": dtype, "bytes": size}
    for name, values in times.items():
        entry[f"{name}_us"] = round(statistics.median(values), 2) if values else None
    if all(times.values()):
        ratios = sorted(gloo / huddle for gloo, huddle in zip(times["gloo"], times["huddle"]))
        tenth = len(ratios) // 10
        entry["ratio"] = round(statistics.median(ratios), 2)
        entry["ratio_interval"] = [round(ratios[tenth], 2), round(ratios[-1 - tenth], 2)]
    return entry


def text(entry):
    times = [f"{entry[f'{name}_us']:10.1f}" if entry[f"{name}_us"] else "         -" for name in BACK_ENDS]
    ratio = "{:7.2f}  ({:.2f} to {:.2f})".format(entry["ratio"], *entry["ratio_interval"]) if "ratio" in entry else ""
    return f"{entry['operation']:15}{entry['type']:9}{entry['bytes'] // 1024:7} {' '.join(times)} {ratio}"


def rank_main(rank, options, store):
    torch.set_num_threads(1)
    import huddle.torch  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    dist.init_process_group("huddle", init_method=f"tcp://127.0.0.1:{store}", rank=rank, world_size=options.ranks)
    groups = {name: dist.new_group(backend=name) for name in BACK_ENDS}
    order, rows = random.Random(options.seed), []
    if rank == 0:
        print(f"{'operation':15}{'type':9}{'KiB':>7} {'Gloo us':>10} {'huddle us':>10}   ratio", flush=True)
    for operation, make in OPERATIONS.items():
        for name, dtype in TYPES.items():
            for size in SIZES:
                times = measure(make, size // dtype.itemsize if hasattr(dtype, "itemsize") else
                                size // torch.zeros(1, dtype=dtype).element_size(), dtype, groups, options, order)
                rows.append(row(operation, name, size, times))
                if rank == 0:
                    print(text(rows[-1]), flush=True)
    if rank == 0 and options.json:
        write(options, rows)
    dist.barrier()
    os._exit(0)


def write(options, rows):
    about = {"torch": torch.__version__.split("+")[0], "python": platform.python_version(), "ranks": options.ranks,
             "cores": os.cpu_count(), "rounds": options.rounds, "turn_ms": options.turn_ms}
    pathlib.Path(options.json).write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turn-ms", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json")
    options = parser.parse_args()
    multiprocessing.spawn(rank_main, (options, free_port()), nprocs=options.ranks)


if __name__ == "__main__":
    main()
