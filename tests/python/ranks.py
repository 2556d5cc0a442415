# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Runs a function in several processes that form a huddle.Communicator."""
import multiprocessing
import os
import secrets
import traceback

import huddle

PROCESSES = multiprocessing.get_context("fork")
LIMIT_S = 100


def _rank(function, key, rank, size, failures):
    try:
        with huddle.Communicator.connect(key, rank, size) as comm:
            function(comm)
    except BaseException:  # pylint: disable=broad-exception-caught
        failures.put(f"rank {rank}:\n{traceback.format_exc()}")
        os._exit(1)


def start(function, size, failures):
    """Returns started processes, each of which calls function(communicator)."""
    key = secrets.token_hex(8)
    processes = [PROCESSES.Process(target=_rank, args=(function, key, rank, size, failures)) for rank in range(size)]
    for process in processes:
        process.start()
    return processes


def run(function, size=2):
    """Calls function(communicator) in `size` processes. Throws AssertionError if one fails."""
    failures = PROCESSES.SimpleQueue()
    join(start(function, size, failures), failures)


def join(processes, failures, limit_s=LIMIT_S):
    """Waits for the processes. Throws AssertionError if one fails, or has not ended after limit_s."""
    for process in processes:
        process.join(limit_s)
        if process.is_alive():
            process.kill()
            process.join()
    problems = []
    while not failures.empty():
        problems.append(failures.get())
    statuses = [process.exitcode for process in processes]
    assert not problems and not any(statuses), f"{statuses}\n" + "\n".join(problems)
