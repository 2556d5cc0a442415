/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Gathers more than 2^31 bytes in total, from any number of ranks, in place, in equal blocks and in
 * uneven blocks, whose messages have odd sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static const size_t all_bytes = (size_t)2200 * 1000 * 1000;
enum { step = 1021, most_ranks = 64 };

static unsigned char byte_at(size_t at, int seed) {
  return (unsigned char)(at * 31 / 7 + (unsigned)seed);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  unsigned char* const data = room_for(all_bytes);
  for (int uneven = 0; uneven < 2 && ranks <= most_ranks; ++uneven) {
    int counts[most_ranks];
    int places[most_ranks];
    size_t sum = 0;
    for (int of = 0; of < ranks; ++of) {
      counts[of] = (int)(all_bytes / (size_t)ranks) - uneven * ((of * 7919 + 1) % 65537);
      places[of] = (int)(sum / 4); /* in units of four bytes: a displacement is an int */
      counts[of] -= counts[of] % 4;
      sum += (size_t)counts[of];
    }
    memset(data, 0, all_bytes);
    const size_t first = (size_t)places[rank] * 4;
    for (size_t at = first; at < first + (size_t)counts[rank]; ++at) {
      data[at] = byte_at(at, uneven);
    }
    if (uneven) {
      for (int of = 0; of < ranks; ++of) counts[of] /= 4;
      MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, data, counts, places, MPI_INT, MPI_COMM_WORLD);
    } else {
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, data, counts[0], MPI_BYTE, MPI_COMM_WORLD);
    }
    size_t wrong = 0;
    for (size_t at = 0; at < sum; at += step) wrong += data[at] != byte_at(at, uneven);
    wrong += data[sum - 1] != byte_at(sum - 1, uneven);
    expect(wrong == 0, "of %zu bytes %zu of those looked at are wrong", sum, wrong);
  }
  free(data);
  MPI_Finalize();
  return verdict();
}
