/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * large [gaps|gathered_gaps]: more than 2^31 bytes in one call: by a datatype of many bytes, and by
 * the forms with large counts; or in one element.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static const size_t bytes = (size_t)2200 * 1000 * 1000;
enum { blocks = 2200 };

static unsigned char byte_at(size_t at, int seed) {
  return (unsigned char)(at * 31 / 7 + (unsigned)seed);
}

static void check(const char* what, const unsigned char* data, int seed) {
  size_t wrong = 0;
  /* Every page, and the ends. */
  for (size_t at = 0; at < bytes; at += 1021) wrong += data[at] != byte_at(at, seed);
  wrong += data[bytes - 1] != byte_at(bytes - 1, seed);
  expect(wrong == 0, "%s of %zu bytes: %zu of those looked at are wrong", what, bytes, wrong);
}

static void fill(unsigned char* data, int is_root, int seed) {
  if (!is_root) {
    memset(data, 0, bytes);
    return;
  }
  for (size_t at = 0; at < bytes; ++at) data[at] = byte_at(at, seed);
}

/* One element of more bytes than an int counts, with a gap that stays as it is; one rank has the
 * same without a gap. */
static void check_gaps(void) {
  enum { gap = 8 };
  const size_t half = bytes / 2;
  const int is_dense = rank_in(MPI_COMM_WORLD) == 1;
  unsigned char* data = malloc(bytes + gap);
  if (data == NULL) return;
  memset(data, 7, bytes + gap);
  const size_t second = is_dense ? half : half + gap;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    for (size_t at = 0; at < half; ++at) data[at] = data[second + at] = byte_at(at, 4);
  }
  MPI_Datatype halves;
  MPI_Type_create_hvector(2, (int)half, (MPI_Aint)second, MPI_BYTE, &halves);
  MPI_Type_commit(&halves);
  MPI_Bcast(data, 1, halves, 0, MPI_COMM_WORLD);
  size_t wrong = 0;
  for (size_t at = 0; at < half; at += 1021) {
    wrong += data[at] != byte_at(at, 4);
    wrong += data[second + at] != byte_at(at, 4);
  }
  expect(wrong == 0, "bcast of an element with a gap: %zu bytes are wrong", wrong);
  expect(is_dense || data[half] == 7, "bcast of an element with a gap: the gap is written to");
  MPI_Type_free(&halves);
  free(data);
}

/* What is given has a gap, and where it is wanted there is none. */
static void check_gathered_gaps(void) {
  enum { gap = 8 };
  const size_t half = bytes / 2;
  const int is_root = rank_in(MPI_COMM_WORLD) == 0;
  unsigned char* data = malloc(is_root ? 2 * bytes : bytes + gap);
  if (data == NULL) return;
  MPI_Datatype halves;
  MPI_Type_create_hvector(2, (int)half, (MPI_Aint)(half + (is_root ? 0 : gap)), MPI_BYTE, &halves);
  MPI_Type_commit(&halves);
  if (is_root) {
    memset(data, 7, 2 * bytes);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, data, 1, halves, 0, MPI_COMM_WORLD);
    check("gather of an element with a gap", data + bytes, 4);
    expect(data[0] == 7, "gather of an element with a gap: what was in place is written to");
  } else {
    for (size_t at = 0; at < half; ++at) data[at] = byte_at(at, 4);
    for (size_t at = half; at < bytes; ++at) data[gap + at] = byte_at(at, 4);
    MPI_Gather(data, 1, halves, NULL, 0, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  MPI_Type_free(&halves);
  free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) {
    if (strcmp(argv[1], "gaps") == 0) check_gaps();
    if (strcmp(argv[1], "gathered_gaps") == 0) check_gathered_gaps();
    MPI_Finalize();
    return verdict();
  }
  unsigned char* data = malloc(bytes);
  const int rank = rank_in(MPI_COMM_WORLD);
  expect(data != NULL, "no memory for %zu bytes", bytes);
  if (data != NULL) {
    MPI_Datatype block;
    MPI_Type_contiguous((int)(bytes / blocks), MPI_BYTE, &block);
    MPI_Type_commit(&block);
    fill(data, rank == 0, 3);
    MPI_Bcast(data, blocks, block, 0, MPI_COMM_WORLD);
    check("bcast", data, 3);
    MPI_Type_free(&block);
#if MPI_VERSION >= 4
    fill(data, rank == 1, 5);
    MPI_Bcast_c(data, (MPI_Count)bytes, MPI_BYTE, 1, MPI_COMM_WORLD);
    check("bcast_c", data, 5);
    fill(data, rank == 0, 9);
    MPI_Allreduce_c(MPI_IN_PLACE, data, (MPI_Count)bytes, MPI_UNSIGNED_CHAR, MPI_MAX,
                    MPI_COMM_WORLD);
    check("allreduce_c", data, 9);
#endif
  }
  free(data);
  MPI_Finalize();
  return verdict();
}
