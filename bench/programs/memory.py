#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Measures the memory that huddle adds to a rank, by ranks, communicators and message size: memory.py HUDDLE

Prints the table of the guide. Uses Debian's Open MPI. Shared pages count proportionally (PSS), and huddle is
active on every communicator.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent / "inputs/memory.c"
RANKS, COMMUNICATORS, SIZES = (2, 4, 8), (1, 10, 100), {"8": 8, "64K": 65536}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "HUDDLE_ACTIVATE_AFTER": "1"}


def held_kib(front, program, ranks, communicators, size):
    command = [*front, "mpiexec.openmpi", "-n", str(ranks), program, str(communicators), str(size)]
    done = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return int(done.stdout)


def main():
    huddle = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "memory"
        subprocess.run(["mpicc.openmpi", "-O2", SOURCE, "-o", program], check=True)
        print("| ranks | message | " + " | ".join(f"{n} communicator{'s' * (n > 1)}" for n in COMMUNICATORS) + " |")
        print("|" + "---|" * (2 + len(COMMUNICATORS)))
        for ranks in RANKS:
            for word, size in SIZES.items():
                added = [held_kib([huddle, "run"], program, ranks, n, size) - held_kib([], program, ranks, n, size)
                         for n in COMMUNICATORS]
                print(f"| {ranks} | {word} | " + " | ".join(f"{kib / 1024:.1f} MiB" for kib in added) + " |", flush=True)


if __name__ == "__main__":
    main()
