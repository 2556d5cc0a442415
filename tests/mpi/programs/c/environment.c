/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * environment CHANGE: changes the environment of the process, and makes calls:
 *   traps        ends at an invalid floating-point operation, a division by zero, or an overflow
 *   variables    removes all environment variables
 *   descriptors  closes standard input and output
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum { calls = 150 };

int main(int argc, char** argv) {
  enum { exceptions = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };
  MPI_Init(&argc, &argv);
  int is_closed = 0;
  const char* change = argc > 1 ? argv[1] : "";
  if (strcmp(change, "traps") == 0) feenableexcept(exceptions);
  if (strcmp(change, "variables") == 0) clearenv();
  if (strcmp(change, "descriptors") == 0) {
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    is_closed = 1;
  }
  feclearexcept(FE_ALL_EXCEPT);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int call = 0; call < calls; ++call) {
    /* A byte cannot be divided among the ranks. */
    signed char mine = (signed char)(rank + 1);
    signed char sum = 0;
    MPI_Reduce(&mine, &sum, 1, MPI_SIGNED_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) expect(sum == ranks * (ranks + 1) / 2, "reduce: %d", sum);
    double numbers[512];
    double sums[512];
    for (int i = 0; i < 512; ++i) numbers[i] = rank + i;
    MPI_Allreduce(numbers, sums, 512, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    expect(sums[1] == ranks * (ranks - 1) / 2 + ranks, "allreduce: %g", sums[1]);
    int root = rank == 0 ? call : -1;
    MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect(root == call, "bcast: %d", root);
    char file[256] = "";
    if (is_closed && readlink("/proc/self/fd/1", file, sizeof file - 1) > 0)
      expect(strstr(file, "huddle") == NULL, "the program's output goes to %s", file);
  }
  MPI_Finalize();
  expect(fetestexcept(exceptions) == 0, "the flags %d are set", fetestexcept(exceptions));
  return verdict();
}
