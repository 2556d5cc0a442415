#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
"""Tests that `huddle explain` predicts what `huddle run` does: explain_run_test.py HUDDLE

Both use the same machine, heap and binding, under each MPI of Debian. The machine is a recorded one, so
both decide by its figures wherever this runs.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HUDDLE = pathlib.Path(sys.argv[1]).resolve()
REPOSITORY = pathlib.Path(__file__).parents[3]
MACHINE = "amd-epyc-2c-1b1d3050"  # a name that ranks have to find as well
PATIENCE_SECONDS = 120
# huddle activates after few calls, whatever their time here.
RECORDED = {"HWLOC_XMLFILE": str(REPOSITORY / "tests/model/machine/topologies/guest-2-cores.xml"),
            "HWLOC_THISSYSTEM": "1", "HUDDLE_ACTIVATE_AFTER": "8", "HUDDLE_TUNE": "off"}
# Open MPI requires these for running as root and with more ranks than hardware threads.
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "OMPI_MCA_rmaps_base_oversubscribe": "1"}
MPIS = [name for name in ("openmpi", "mpich") if shutil.which(f"mpicc.{name}") and shutil.which(f"mpiexec.{name}")]
# Open MPI binds ranks by default; MPICH does not.
UNBOUND = {"openmpi": ["--bind-to", "none"], "mpich": []}

# One size per collective, so that the statistics have one line for it. Sizes are those of huddle explain:
# one block of an exchange, but all data of a rank for operations that reduce to blocks.
SIZES = [
    {"bcast": 8, "allreduce": 8, "allgather": 1024, "alltoall": 1024, "scatter": 4096, "gather": 4096},
    {"bcast": 65536, "reduce": 65536, "allreduce": 65536, "allgather": 65536, "reduce_scatter_block": 131072},
    {"bcast": 1048576, "reduce": 1048576, "allreduce": 1048576, "alltoall": 524288, "scatter": 1048576},
]
PROGRAM = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { times = 20 };

static void call(const char* what, double* from, double* to, int doubles, int ranks) {
  if (!strcmp(what, "bcast")) MPI_Bcast(from, doubles, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (!strcmp(what, "reduce"))
    MPI_Reduce(from, to, doubles, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (!strcmp(what, "allreduce"))
    MPI_Allreduce(from, to, doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(what, "reduce_scatter_block"))
    MPI_Reduce_scatter_block(from, to, doubles / ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(what, "allgather"))
    MPI_Allgather(from, doubles, MPI_DOUBLE, to, doubles, MPI_DOUBLE, MPI_COMM_WORLD);
  if (!strcmp(what, "alltoall"))
    MPI_Alltoall(from, doubles, MPI_DOUBLE, to, doubles, MPI_DOUBLE, MPI_COMM_WORLD);
  if (!strcmp(what, "gather"))
    MPI_Gather(from, doubles, MPI_DOUBLE, to, doubles, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (!strcmp(what, "scatter"))
    MPI_Scatter(from, doubles, MPI_DOUBLE, to, doubles, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    const int bytes = atoi(argv[i + 1]);
    double* from = calloc(ranks, bytes);
    double* to = calloc(ranks, bytes);
    for (int k = 0; k < times; ++k) call(argv[i], from, to, bytes / (int)sizeof(double), ranks);
    free(from);
    free(to);
  }
  MPI_Finalize();
  return 0;
}
"""


def words_of(sizes):
    return [str(word) for pair in sizes.items() for word in pair]


class ExplainAndRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.assertTrue(MPIS, "no MPI with a compiler: scripts/install-packages.sh test")

    def huddle(self, *words, **settings):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **ALLOWED, **RECORDED, **settings}
        done = subprocess.run([HUDDLE, *map(str, words)], text=True, capture_output=True, check=False,
                              timeout=PATIENCE_SECONDS, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def program_for(self, mpi):
        source = self.folder / "collectives.c"
        source.write_text(PROGRAM, encoding="utf-8")
        program = self.folder / f"collectives-{mpi}"
        subprocess.run([f"mpicc.{mpi}", "-O1", source, "-o", program], check=True)
        return program

    def what_ran(self, mpi, program, sizes, *options):
        """Returns the algorithms in the statistics by operation, without calls that fell back to the MPI."""
        stats = self.huddle("run", "--stats", *options, f"mpiexec.{mpi}", "-n", 2, *UNBOUND[mpi], program,
                            *words_of(sizes)).stderr
        found = {}
        for line in stats.splitlines():
            columns = line.split(maxsplit=4)
            is_in_table = not line.startswith(" ")  # the rows of all ranks are indented
            if is_in_table and len(columns) == 5 and columns[0] in sizes and not columns[4].startswith("MPI:"):
                found.setdefault(columns[0], set()).add(columns[4])
        self.assertEqual(set(found), set(sizes), stats)
        return found

    def what_is_explained(self, operation, size, *options):
        return json.loads(self.huddle("explain", operation, size, "-n", 2, "--bind", "none", "--json",
                                      *options).stdout)

    def test_they_agree(self):
        for mpi in MPIS:
            program = self.program_for(mpi)
            for heap in ("off", "on"):
                options = ("--machine", MACHINE, "--heap", heap)
                for sizes in SIZES:
                    ran = self.what_ran(mpi, program, sizes, *options)
                    explained = {operation: {self.what_is_explained(operation, size, *options)["chosen"]["algorithm"]}
                                 for operation, size in sizes.items()}
                    self.assertEqual(explained, ran, f"{mpi}, --heap {heap}: explained, and run")

    def test_the_heap_matters(self):
        """Otherwise the test above would not cover the heap."""
        options = ("--machine", MACHINE, "--heap")
        off, on = (self.what_is_explained("allgather", "64K", *options, heap) for heap in ("off", "on"))
        self.assertEqual((off["mapped"], on["mapped"]), (False, True))
        self.assertNotEqual(on["chosen"]["algorithm"], off["chosen"]["algorithm"])
        self.assertLess(on["chosen"]["predicted_ns"], off["chosen"]["predicted_ns"])
        small = self.what_is_explained("allgather", "32K", *options, "on")
        self.assertFalse(small["mapped"], "no array of less than HUDDLE_HEAP_THRESHOLD lies in it")

    def test_stored_trials_are_explained(self):
        calls = ["bcast", 65536, "allreduce", 1024] * 30  # 600 calls of each, enough for a trial
        for mpi in MPIS:
            program = self.program_for(mpi)
            file = self.folder / f"{mpi}.json"
            self.huddle("run", "--machine", MACHINE, f"mpiexec.{mpi}", "-n", 2, *UNBOUND[mpi], program, *calls,
                        HUDDLE_TUNE=str(file))
            options = ("--from-run", file, "--machine", MACHINE)
            explained = json.loads(self.huddle("explain", *options, "--json").stdout)
            rows = {row["operation"]: row for row in explained["results"]}
            self.assertEqual(set(rows), {"bcast", "allreduce"}, mpi)
            for operation, row in rows.items():
                first = self.what_is_explained(operation, row["most_bytes"], "--machine", MACHINE)["chosen"]
                self.assertEqual(row["predicted"]["algorithm"], first["algorithm"], f"{mpi}, {operation}")
                self.assertAlmostEqual(row["predicted"]["predicted_ns"], first["predicted_ns"], 3)
                if row["kept"] == "predicted":
                    self.assertEqual(row["algorithm"], first["algorithm"], f"{mpi}, {operation}")
                self.assertGreater(row["transfer_ns"], 0)
            text = " ".join(self.huddle("explain", *options).stdout.split())
            self.assertIn("2 ranks on CPUs 0-1 ", text)
            self.assertRegex(text, r"bcast up to 64K: (MPI|\w+).* [num]?s \w+ [0-9.]+ us allreduce")
            other = self.huddle("explain", "--from-run", file, "--machine", "songshan").stdout
            self.assertIn(f"contains results of {MACHINE}", " ".join(other.split()))
            self.assertIn("contains no results of this machine", " ".join(other.split()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
