/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A program that is linked with an MPI and makes only calls that need no initialization.
 */
#include <stdio.h>

#include "expect.h"

int main(void) {
  int initialized = -1;
  int finalized = -1;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  expect(initialized == 0 && finalized == 0, "MPI is initialized: %d, finalized: %d", initialized,
         finalized);
  printf("done\n");
  return verdict();
}
