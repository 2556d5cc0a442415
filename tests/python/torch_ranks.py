# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs a function in several processes that have initialized torch.distributed."""
import datetime
import os
import traceback

import torch
import torch.distributed as dist
from ranks import join
from torch import multiprocessing

LIMIT_S = 120


def _rank(function, backend, rank, size, store, failures):
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    import huddle.torch  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    try:
        dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=size,
                                timeout=datetime.timedelta(seconds=60))
        function()
        dist.destroy_process_group()
    except BaseException:  # pylint: disable=broad-exception-caught
        failures.put(f"rank {rank}:\n{traceback.format_exc()}")
        os._exit(1)


def run(function, store, size=2, backend="huddle"):
    """Calls function() in `size` processes. Throws AssertionError if one fails. `store` is the path of a new file."""
    context = multiprocessing.get_context("spawn")
    failures = context.SimpleQueue()
    processes = [context.Process(target=_rank, args=(function, backend, rank, size, str(store), failures))
                 for rank in range(size)]
    for process in processes:
        process.start()
    join(processes, failures, LIMIT_S)
