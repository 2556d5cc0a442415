#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Those who keep caches of registered memory hear of all that the heap gives back: UCX and Open MPI.

What they tell of memory that goes is compared with the pages that have gone (watched_memory.c).
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
# The cap makes the heap join free parts, and a fork is one with more than is copied.
ON = {"LD_PRELOAD": LIBRARY, "TEST_HUDDLE_HEAP": "at-once", "HUDDLE_HEAP_CAP": "512M",
      "HUDDLE_HEAP_FORK": "32M"}
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
            # Outside of Open MPI's launcher, so that nothing but the program is preloaded to.
            done = subprocess.run([program], capture_output=True, text=True, check=False,
                                  env={**os.environ, **AS_ROOT, **ON}, timeout=PATIENCE_SECONDS)
        if done.returncode == NOT_TO_BE_HAD:
            self.fail("the hooks could not be installed beside the heap's library\n" + done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("all announced\n"), done.stdout)

    def test_ucx_hears_of_all_that_goes(self):
        self.expect_all_announced(CC, "-DWATCH_UCM", "-lucm", "-lucs")

    def test_open_mpi_hears_of_all_that_goes(self):
        compiler = shutil.which("mpicc.openmpi")
        if compiler is None:
            self.skipTest("Debian's Open MPI is not here: apt install libopenmpi-dev")
        self.expect_all_announced([compiler], "-DWATCH_OPAL", "-lopen-pal")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
