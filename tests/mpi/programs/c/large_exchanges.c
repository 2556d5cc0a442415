/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * large_exchanges CALL: one call between two ranks that moves more than 2^31 bytes: by a datatype
 * of many bytes or, with LARGE_COUNTS, by the large-count function.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#ifdef LARGE_COUNTS
typedef MPI_Count count;
typedef MPI_Aint place;
#define CALL(name) MPI_##name##_c
enum { bytes_of_unit = 1, bytes_of_number = 1 };
#define NUMBER MPI_UNSIGNED_CHAR
#else
typedef int count;
typedef int place;
#define CALL(name) MPI_##name
enum { bytes_of_unit = 1000, bytes_of_number = 8 };
#define NUMBER MPI_UINT64_T
#endif

/* More than 2^31, more than 2^30, and a small size. */
static const size_t large = (size_t)2200 * 1000 * 1000;
static const size_t half = (size_t)1100 * 1000 * 1000;
static const size_t small = 1000;

static MPI_Datatype unit;
static int rank;

static count units(size_t bytes) { return (count)(bytes / bytes_of_unit); }
static count numbers(size_t bytes) { return (count)(bytes / bytes_of_number); }

/* Each rank contributes different bits, so that reductions by MPI_BOR show both. */
enum { of_first = 1, of_second = 2, of_both = 3, to_second = 4 };
static int own(void) { return rank == 0 ? of_first : of_second; }

static unsigned char byte_at(size_t at, int bits) {
  return (unsigned char)(((at / 7 * 8) & 0xF8) | (unsigned)bits);
}

static void fill(unsigned char* data, size_t bytes, int bits) {
  for (size_t at = 0; at < bytes; ++at) data[at] = byte_at(at, bits);
}

/* Checks every page, and the end; `from` is the offset of the first byte in the filled data. */
static void check_from(size_t from, const unsigned char* data, size_t bytes, int bits) {
  size_t wrong = data[bytes - 1] != byte_at(from + bytes - 1, bits);
  for (size_t at = 0; at < bytes; at += 1021) wrong += data[at] != byte_at(from + at, bits);
  expect(wrong == 0, "of %zu bytes %zu of those looked at are wrong", bytes, wrong);
}

static void check(const unsigned char* data, size_t bytes, int bits) {
  check_from(0, data, bytes, bits);
}

static unsigned char* room(size_t bytes) {
  unsigned char* data = calloc(bytes, 1);
  expect(data != NULL, "no memory for %zu bytes", bytes);
  if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return data;
}

static unsigned char* filled(size_t bytes, int bits) {
  unsigned char* data = room(bytes);
  fill(data, bytes, bits);
  return data;
}

/* Two blocks. If the larger one is first, the offset of the other one exceeds 2^31. */
struct listed {
  count counts[2];
  place places[2];
  size_t bytes[2];
};

static struct listed listed(size_t first, size_t second, size_t bytes_of_place,
                            int larger_is_first) {
  struct listed list = {{units(first), units(second)}, {0, 0}, {first, second}};
  const int ahead = (first > second) == larger_is_first ? 0 : 1;
  list.places[1 - ahead] = (place)(list.bytes[ahead] / bytes_of_place);
  return list;
}

static struct listed in_units(size_t first, size_t second) {
  return listed(first, second, bytes_of_unit, 1);
}

static unsigned char* block(unsigned char* data, const struct listed* list, int of, size_t scale) {
  return data + (size_t)list->places[of] * scale;
}

static void gather(void) {
  unsigned char* data = rank == 0 ? room(2 * large) : filled(large, own());
  if (rank == 0) {
    fill(data, large, own());
    CALL(Gather)(MPI_IN_PLACE, 0, unit, data, units(large), unit, 0, MPI_COMM_WORLD);
    check(data, large, of_first);
    check(data + large, large, of_second);
  } else {
    CALL(Gather)(data, units(large), unit, NULL, 0, unit, 0, MPI_COMM_WORLD);
  }
  free(data);
}

static void gatherv(void) {
  const struct listed list = in_units(small, large);
  unsigned char* mine = filled(list.bytes[rank], own());
  unsigned char* all = rank == 0 ? room(small + large) : NULL;
  CALL(Gatherv)
  (mine, list.counts[rank], unit, all, list.counts, list.places, unit, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    check(block(all, &list, 0, bytes_of_unit), small, of_first);
    check(block(all, &list, 1, bytes_of_unit), large, of_second);
  }
  free(all);
  free(mine);
}

static void scatter(void) {
  unsigned char* data = room(rank == 0 ? 2 * large : large);
  if (rank == 0) {
    fill(data + large, large, of_both);
    CALL(Scatter)(data, units(large), unit, MPI_IN_PLACE, 0, unit, 0, MPI_COMM_WORLD);
  } else {
    CALL(Scatter)(NULL, 0, unit, data, units(large), unit, 0, MPI_COMM_WORLD);
    check(data, large, of_both);
  }
  free(data);
}

static void scatterv(void) {
  const struct listed list = in_units(small, large);
  unsigned char* mine = room(list.bytes[rank]);
  unsigned char* all = rank == 0 ? room(small + large) : NULL;
  if (rank == 0) {
    fill(block(all, &list, 0, bytes_of_unit), small, of_first);
    fill(block(all, &list, 1, bytes_of_unit), large, of_second);
  }
  CALL(Scatterv)
  (all, list.counts, list.places, unit, mine, list.counts[rank], unit, 0, MPI_COMM_WORLD);
  check(mine, list.bytes[rank], own());
  free(all);
  free(mine);
}

static void allgather(void) {
  unsigned char* data = room(2 * large);
  fill(data + (size_t)rank * large, large, own());
  CALL(Allgather)(MPI_IN_PLACE, 0, unit, data, units(large), unit, MPI_COMM_WORLD);
  check(data, large, of_first);
  check(data + large, large, of_second);
  free(data);
}

static void allgatherv(void) {
  const struct listed list = in_units(small, large);
  unsigned char* mine = filled(list.bytes[rank], own());
  unsigned char* all = room(small + large);
  CALL(Allgatherv)
  (mine, list.counts[rank], unit, all, list.counts, list.places, unit, MPI_COMM_WORLD);
  check(block(all, &list, 0, bytes_of_unit), small, of_first);
  check(block(all, &list, 1, bytes_of_unit), large, of_second);
  free(all);
  free(mine);
}

static void alltoall(void) {
  unsigned char* input = room(2 * half);
  fill(input, half, own());
  fill(input + half, half, own() | to_second);
  unsigned char* output = room(2 * half);
  CALL(Alltoall)(input, units(half), unit, output, units(half), unit, MPI_COMM_WORLD);
  const int to = rank == 0 ? 0 : to_second;
  check(output, half, of_first | to);
  check(output + half, half, of_second | to);
  free(output);
  free(input);
}

/* A large block from the first to the second rank, and small ones elsewhere. */
static struct listed given(size_t bytes_of_place, int larger_is_first) {
  return listed(small, rank == 0 ? large : small, bytes_of_place, larger_is_first);
}
static struct listed taken(size_t bytes_of_place, int larger_is_first) {
  return listed(rank == 1 ? large : small, small, bytes_of_place, larger_is_first);
}

static void fill_blocks(unsigned char* data, const struct listed* list, size_t scale) {
  fill(block(data, list, 0, scale), list->bytes[0], own());
  fill(block(data, list, 1, scale), list->bytes[1], own() | to_second);
}

static void check_blocks(unsigned char* data, const struct listed* list, size_t scale) {
  const int to = rank == 0 ? 0 : to_second;
  check(block(data, list, 0, scale), list->bytes[0], of_first | to);
  check(block(data, list, 1, scale), list->bytes[1], of_second | to);
}

static void alltoallv(void) {
  const struct listed from = given(bytes_of_unit, 1);
  const struct listed to = taken(bytes_of_unit, 1);
  unsigned char* input = room(large + small);
  unsigned char* output = room(large + small);
  fill_blocks(input, &from, bytes_of_unit);
  CALL(Alltoallv)
  (input, from.counts, from.places, unit, output, to.counts, to.places, unit, MPI_COMM_WORLD);
  check_blocks(output, &to, bytes_of_unit);
  free(output);
  free(input);
}

/* Displacements are in bytes here, so an int cannot hold those beyond 2^31. */
static void alltoallw(void) {
  const int is_beyond = sizeof(place) > sizeof(int);
  const struct listed from = given(1, is_beyond);
  const struct listed to = taken(1, is_beyond);
  const MPI_Datatype types[2] = {unit, unit};
  unsigned char* input = room(large + small);
  unsigned char* output = room(large + small);
  fill_blocks(input, &from, 1);
  CALL(Alltoallw)
  (input, from.counts, from.places, types, output, to.counts, to.places, types, MPI_COMM_WORLD);
  check_blocks(output, &to, 1);
  free(output);
  free(input);
}

static void reduce_scatter(void) {
  const size_t bytes[2] = {small, large};
  const count counts[2] = {numbers(small), numbers(large)};
  unsigned char* data = filled(small + large, own());
  CALL(Reduce_scatter)(MPI_IN_PLACE, data, counts, NUMBER, MPI_BOR, MPI_COMM_WORLD);
  check_from(rank == 0 ? 0 : small, data, bytes[rank], of_both);
  free(data);
}

static void reduce_scatter_block(void) {
  unsigned char* data = filled(2 * half, own());
  CALL(Reduce_scatter_block)(MPI_IN_PLACE, data, numbers(half), NUMBER, MPI_BOR, MPI_COMM_WORLD);
  check_from((size_t)rank * half, data, half, of_both);
  free(data);
}

static void scan(void) {
  unsigned char* data = filled(large, own());
  CALL(Scan)(MPI_IN_PLACE, data, numbers(large), NUMBER, MPI_BOR, MPI_COMM_WORLD);
  check(data, large, rank == 0 ? of_first : of_both);
  free(data);
}

static void exscan(void) {
  unsigned char* data = filled(large, own());
  CALL(Exscan)(MPI_IN_PLACE, data, numbers(large), NUMBER, MPI_BOR, MPI_COMM_WORLD);
  if (rank == 1) check(data, large, of_first);
  free(data);
}

static const struct {
  const char* name;
  void (*run)(void);
} calls[] = {
    {"gather", gather},
    {"gatherv", gatherv},
    {"scatter", scatter},
    {"scatterv", scatterv},
    {"allgather", allgather},
    {"allgatherv", allgatherv},
    {"alltoall", alltoall},
    {"alltoallv", alltoallv},
    {"alltoallw", alltoallw},
    {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block", reduce_scatter_block},
    {"scan", scan},
    {"exscan", exscan},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = rank_in(MPI_COMM_WORLD);
  MPI_Type_contiguous(bytes_of_unit, MPI_BYTE, &unit);
  MPI_Type_commit(&unit);
  int run = 0;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    if (strcmp(calls[i].name, argv[argc - 1]) != 0) continue;
    calls[i].run();
    ++run;
  }
  expect(run == 1, "%s is none of these calls", argv[argc - 1]);
  MPI_Type_free(&unit);
  MPI_Finalize();
  return verdict();
}
