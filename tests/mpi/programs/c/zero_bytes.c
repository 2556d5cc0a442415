/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/* zero_bytes CALLS: makes CALLS calls of each collective with a count of 0. */
#include <stdlib.h>

#include "collectives.h"
#include "expect.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  int input[64] = {0};
  int output[64] = {0};
  for (int i = 0; i < collective_count; ++i) {
    for (int call = 0; call < calls; ++call) {
      const struct shape shape = {MPI_COMM_WORLD, 0, 0, 0};
      collectives[i].call(&with_huddle, &shape, input, output);
    }
  }
  MPI_Finalize();
  return verdict();
}
