/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * large [CALL]: moves more than 2^31 bytes in one call: by a datatype of many bytes and by the
 * large-count functions or, with CALL, in one element that has gaps on one of two ranks.
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
  /* Checks every page, and the ends. */
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

/* One element of rows, with or without gaps between them. */
enum { row = 2200, rows = 1000 * 1000, gap = 8 };

static MPI_Datatype element_of(size_t stride) {
  MPI_Datatype one_row;
  MPI_Datatype element;
  MPI_Type_contiguous(row, MPI_BYTE, &one_row);
  if (stride == row) {
    MPI_Type_contiguous(rows, one_row, &element);
  } else {
    MPI_Type_create_hvector(rows, 1, (MPI_Aint)stride, one_row, &element);
  }
  MPI_Type_commit(&element);
  MPI_Type_free(&one_row);
  return element;
}

/* Returns whether rank 0 sends and rank 1 receives, rather than vice versa. */
static int is_from_root(const char* call) {
  return strcmp(call, "bcast") == 0 || strcmp(call, "scatterv") == 0;
}

/* Requires: there is room for another element before the root's. */
static void move_element(const char* call, unsigned char* data, MPI_Datatype type) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int rank = rank_in(world);
  const int only_of_1[] = {0, 1};
  const int only_for_0[] = {rank, 0};
  const int only_from_1[] = {0, 1 - rank};
  const int places[] = {0, 0};
  const MPI_Datatype types[] = {type, type};
  if (strcmp(call, "bcast") == 0) MPI_Bcast(data, 1, type, 0, world);
  if (strcmp(call, "scatterv") == 0)
    MPI_Scatterv(data, only_of_1, places, type, rank == 0 ? NULL : data, rank, type, 0, world);
  if (strcmp(call, "gather") == 0)
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : data, 1, type, data - bytes * (rank == 0), 1, type, 0,
               world);
  if (strcmp(call, "gatherv") == 0)
    MPI_Gatherv(rank == 0 ? NULL : data, rank, type, data, only_of_1, places, type, 0, world);
  if (strcmp(call, "alltoallw") == 0)
    MPI_Alltoallw(rank == 0 ? NULL : data, only_for_0, places, types, rank == 0 ? data : NULL,
                  only_from_1, places, types, world);
}

static void check_element(const char* call) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int gives = is_from_root(call) == (rank == 0);
  const size_t stride = rank == 0 ? row : row + gap;
  const size_t in_front = rank == 0 ? bytes : 0;
  unsigned char* room = malloc(in_front + rows * stride);
  expect(room != NULL, "no memory for %zu bytes", in_front + rows * stride);
  if (room == NULL) return;
  unsigned char* data = room + in_front;
  memset(data, 7, rows * stride);
  for (size_t at = 0; gives && at < bytes; ++at)
    data[at / row * stride + at % row] = byte_at(at, 4);
  MPI_Datatype element = element_of(stride);
  move_element(call, data, element);
  size_t wrong = 0;
  for (size_t at = 0; at < bytes; at += 1021)
    wrong += data[at / row * stride + at % row] != byte_at(at, 4);
  expect(wrong == 0, "%s of an element with gaps: %zu bytes are wrong", call, wrong);
  for (size_t at = 0; stride > row && at < rows; ++at) wrong += data[at * stride + row] != 7;
  expect(wrong == 0, "%s of an element with gaps: %zu of those are written to", call, wrong);
  MPI_Type_free(&element);
  free(room);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) {
    check_element(argv[1]);
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
