#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests the figures of `huddle run --compare` under each MPI of Debian: run_compare_mpi_test.py HUDDLE"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HUDDLE = pathlib.Path(sys.argv[1]).resolve()
START_UP = HUDDLE.parents[1] / "lib/huddle/huddle-start-up"
PATIENCE_SECONDS = 120
# Open MPI requires these for running as root and with more ranks than hardware threads.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
LIBRARIES = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
MPIS = [name for name in LIBRARIES if shutil.which(f"mpicc.{name}") and shutil.which(f"mpiexec.{name}")]
PROGRAM = """
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 20000; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
"""


class Compare(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="huddle-compare-")
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def huddle(self, *words):
        environment = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        return subprocess.run([HUDDLE, "run", *map(str, words)], cwd=self.folder, text=True, capture_output=True,
                              env={**environment, **ALLOWED, "HOME": str(self.folder)}, check=False,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE_SECONDS)

    def test_figures_of_an_mpi_program(self):
        source = self.folder / "program.c"
        source.write_text(PROGRAM, encoding="utf-8")
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                subprocess.run([f"mpicc.{mpi}", "-o", self.folder / "program", source], check=True)
                done = self.huddle("--compare", 2, "--json", f"mpiexec.{mpi}", "-n", 2, "./program")
                self.assertEqual(done.returncode, 0, done.stderr)
                told = json.loads(done.stdout)
                self.assertEqual(told["start_up"]["program"], "begins and ends MPI")
                self.assertEqual([len(told["start_up"][f"{side}_seconds"]) for side in ("native", "huddle")], [2, 2])
                self.assertGreater(told["collectives"]["native_share"], 0)
                self.assertLessEqual(told["collectives"]["native_share"], 1)
                self.assertEqual(len(told["collectives"]["huddle_shares"]), 1)
                self.assertIn(told["conclusion"]["result"], ("too_short", "too_few_runs"), "of two runs")
                # The CPU time of the ranks is the job's own, not that of other programs.
                load = told["other_load"]
                if load is not None:
                    self.assertLess(load["used_by_others"], load["hardware_threads"])

    def test_program_without_work_runs_in_huddle(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                done = self.huddle("-v", f"mpiexec.{mpi}", "-n", 2, START_UP, "libabsent.so:" + LIBRARIES[mpi])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("huddle: rank 0 called no collective", done.stderr)

    def test_program_without_work_names_its_mistakes(self):
        for library, mistake in (("libabsent.so", "no MPI library can be opened"), ("libm.so.6", "has no MPI_Init")):
            done = subprocess.run([START_UP, library], text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(mistake, done.stderr)
        self.assertEqual(subprocess.run([START_UP], check=False).returncode, 0)


if __name__ == "__main__":
    if not MPIS:
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
