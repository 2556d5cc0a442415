#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""huddle opens no network handle in a job on one node: network_handles_test.py HUDDLE

Under strace the ranks open equally many Internet sockets and InfiniBand devices with and without
huddle. (The launcher is not counted, because `huddle run` starts it to read its version.) Status
77: strace or an MPI is not installed.
"""
import pathlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HUDDLE = pathlib.Path(sys.argv[1]).resolve()
PATIENCE_SECONDS = 120
# Open MPI must be told to run as root and with more ranks than cores.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
JOINED_AT_ONCE = {"HUDDLE_ACTIVATE_AFTER": "1"}
MPIS = [name for name in ("openmpi", "mpich") if shutil.which(f"mpicc.{name}") and shutil.which(f"mpiexec.{name}")]
# Makes enough large calls for huddle to activate.
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = 1 << 15;
  double* from = calloc(count, sizeof(double));
  double* to = calloc(count, sizeof(double));
  for (int i = 0; i < 10; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(from, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Alltoall(from, count / 2, MPI_DOUBLE, to, count / 2, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  free(from);
  free(to);
  return MPI_Finalize();
}
"""
NETWORK = re.compile(r"socket\(AF_INET|/dev/infiniband|/sys/class/infiniband")


class NetworkHandles(unittest.TestCase):
    def handles(self, folder, mpi, *front):
        """Returns the number of handles that the two ranks opened, and the line about huddle's
        collectives."""
        program, trace = folder / f"program.{mpi}", folder / "trace"
        command = ["strace", "-f", "-qq", "-e", "trace=socket,openat,execve", "-o", trace, *front,
                   f"mpiexec.{mpi}", "-n", "2", program]
        done = subprocess.run(command, env={**os.environ, **ALLOWED, **JOINED_AT_ONCE}, text=True, timeout=PATIENCE_SECONDS,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = trace.read_text(encoding="utf-8", errors="replace").splitlines()
        ranks = {line.split()[0] for line in lines if f'execve("{program}"' in line}
        self.assertEqual(len(ranks), 2, done.stdout)
        of_ranks = [line for line in lines if line.split()[0] in ranks and NETWORK.search(line)]
        return len(of_ranks), re.search(r"([\d,]+) collectives of rank 0 handled", done.stdout)

    def test_are_as_many_with_huddle_as_without(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "program.c").write_text(PROGRAM, encoding="ascii")
            for mpi in MPIS:
                with self.subTest(mpi=mpi):
                    subprocess.run([f"mpicc.{mpi}", folder / "program.c", "-o", folder / f"program.{mpi}"], check=True)
                    natively, _ = self.handles(folder, mpi)
                    ours, taken = self.handles(folder, mpi, HUDDLE, "run", "-v")
                    self.assertTrue(taken, "huddle took nothing: nothing was shown")
                    self.assertEqual(ours, natively)


if __name__ == "__main__":
    if not shutil.which("strace") or not MPIS:
        print("strace, or Debian's Open MPI or MPICH, is not installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
