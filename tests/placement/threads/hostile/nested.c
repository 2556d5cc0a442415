/* SPDX-License-Identifier: BSD-3-Clause
   Copyright the huddle contributors

   Nested parallel regions in a loop: the OpenMP runtime starts and ends threads as it likes. The
   exit status is 7 if all sums are correct. */
#include <omp.h>

enum { rounds = 200, outer = 3, inner = 3, cells = 4096 };
static long sums[outer][cells];

int main(void) {
  omp_set_max_active_levels(2);
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel for num_threads(outer)
    for (int part = 0; part < outer; ++part) {
#pragma omp parallel for num_threads(inner)
      for (int cell = 0; cell < cells; ++cell) sums[part][cell] += cell;
    }
  }
  for (int part = 0; part < outer; ++part) {
    for (int cell = 0; cell < cells; ++cell) {
      if (sums[part][cell] != (long)cell * rounds) return 1;
    }
  }
  return 7;
}
