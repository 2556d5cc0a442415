#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests that the memory hooks of UCX and Open MPI are notified of all memory that the heap returns.

watched_memory.c compares their notifications with the pages that have disappeared.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = str(pathlib.Path(sys.argv[1]).resolve())
CC = sys.argv[2].split()
SOURCE = pathlib.Path(__file__).with_name("watched_memory.c")
# With this cap the heap has to merge free parts, and the program's fork exceeds the copy limit.
ON = {"LD_PRELOAD": LIBRARY, "TEST_HUDDLE_HEAP": "at-once", "HUDDLE_HEAP_LIMIT": "512M",
      "HUDDLE_HEAP_FORK_LIMIT": "32M"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
NOT_TO_BE_HAD = 77
PATIENCE_SECONDS = 120


class Hooks(unittest.TestCase):
    def expect_all_announced(self, compiler, *flags):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/watched_memory"
            built = subprocess.run([*compiler, "-O1", str(SOURCE), "-o", program, *flags],
                                   capture_output=True, text=True, check=False)
            if built.returncode != 0:
                self.skipTest(f"cannot be built here: {built.stderr.splitlines()[-1:]}")
            # Runs without Open MPI's launcher, so that only the program has the preloaded library.
            done = subprocess.run([program], capture_output=True, text=True, check=False,
                                  env={**os.environ, **AS_ROOT, **ON}, timeout=PATIENCE_SECONDS)
        if done.returncode == NOT_TO_BE_HAD:
            self.fail("the hooks could not be installed beside the heap's library\n" + done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("all announced\n"), done.stdout)

    def test_ucx_is_notified_of_all_returned_memory(self):
        self.expect_all_announced(CC, "-DWATCH_UCM", "-lucm", "-lucs")

    def test_open_mpi_is_notified_of_all_returned_memory(self):
        compiler = shutil.which("mpicc.openmpi")
        if compiler is None:
            self.skipTest("Debian's Open MPI is not here: apt install libopenmpi-dev")
        self.expect_all_announced([compiler], "-DWATCH_OPAL", "-lopen-pal")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
