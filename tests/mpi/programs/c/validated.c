/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Runs loops like those of benchmarks that validate results: page-aligned buffers that are
 * allocated once, growing sizes, several calls of each size with different data, and a fixed root.
 * Covers every collective in such benchmarks, and reductions of every type that they offer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { largest = 1 << 20, calls = 6, page = 4096 };

static int rank, ranks;
static unsigned char *input, *output;
static int counts[64], offsets[64];
static MPI_Datatype types[64];

/* Returns the byte at this offset of the data from rank `from` to rank `to`. */
static unsigned char byte_of(int from, int to, size_t at, int call) {
  return (unsigned char)((unsigned)from * 31 + (unsigned)to * 17 + at * 7 + at / 251 +
                         (unsigned)call * 13);
}

static void hand_in(int to, int block, size_t bytes, int call) {
  for (size_t i = 0; i < bytes; ++i) {
    input[(size_t)block * bytes + i] = byte_of(rank, to, i, call);
  }
}

static void look(const char* what, const unsigned char* block, int from, int to, size_t bytes,
                 int call) {
  size_t i = 0;
  while (i < bytes && block[i] == byte_of(from, to, i, call)) ++i;
  expect(i == bytes, "%s of %zu bytes, call %d: byte %zu from rank %d on rank %d", what, bytes,
         call, i, from, rank);
}

static void spread_evenly(int bytes) {
  for (int i = 0; i < ranks; ++i) {
    counts[i] = bytes;
    offsets[i] = i * bytes;
    types[i] = MPI_CHAR;
  }
}

enum way {
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  ways
};
static const char* const names[ways] = {"allgather", "allgatherv", "alltoall", "alltoallv",
                                        "alltoallw", "bcast",      "gather",   "gatherv",
                                        "scatter",   "scatterv"};

static void call_it(enum way way, int bytes) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_CHAR;
  switch (way) {
    case allgather:
      MPI_Allgather(input, bytes, type, output, bytes, type, all);
      break;
    case allgatherv:
      MPI_Allgatherv(input, bytes, type, output, counts, offsets, type, all);
      break;
    case alltoall:
      MPI_Alltoall(input, bytes, type, output, bytes, type, all);
      break;
    case alltoallv:
      MPI_Alltoallv(input, counts, offsets, type, output, counts, offsets, type, all);
      break;
    case alltoallw:
      MPI_Alltoallw(input, counts, offsets, types, output, counts, offsets, types, all);
      break;
    case bcast:
      MPI_Bcast(rank == 0 ? input : output, bytes, type, 0, all);
      break;
    case gather:
      MPI_Gather(input, bytes, type, output, bytes, type, 0, all);
      break;
    case gatherv:
      MPI_Gatherv(input, bytes, type, output, counts, offsets, type, 0, all);
      break;
    case scatter:
      MPI_Scatter(input, bytes, type, output, bytes, type, 0, all);
      break;
    case scatterv:
      MPI_Scatterv(input, counts, offsets, type, output, bytes, type, 0, all);
      break;
    case ways:
      break;
  }
}

/* Returns whether each pair of ranks has its own block. Data for all ranks have the pattern of data
 * for rank 0. */
static int is_by_pairs(enum way way) {
  return way == alltoall || way == alltoallv || way == alltoallw || way == scatter ||
         way == scatterv;
}

static int is_from_root(enum way way) { return way == bcast || way == scatter || way == scatterv; }

static int is_to_root(enum way way) { return way == gather || way == gatherv; }

static void one_call(enum way way, int bytes, int call) {
  const int blocks = is_by_pairs(way) ? ranks : 1;
  for (int to = 0; to < blocks; ++to) hand_in(to, to, (size_t)bytes, call);
  memset(output, 0xee, (size_t)bytes * (size_t)ranks + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  call_it(way, bytes);
  const int to = is_by_pairs(way) ? rank : 0;
  if (is_from_root(way)) {
    if (way != bcast || rank != 0) look(names[way], output, 0, to, (size_t)bytes, call);
  } else if (!is_to_root(way) || rank == 0) {
    for (int from = 0; from < ranks; ++from) {
      look(names[way], output + (size_t)from * (size_t)bytes, from, to, (size_t)bytes, call);
    }
  }
  expect(output[(size_t)bytes * (size_t)ranks] == 0xee, "%s of %d bytes writes beyond its end",
         names[way], bytes);
}

/* Small integers, which every type represents and whose sums do not depend on the order. */
static int number_of(int from, size_t at, int call) {
  return (int)((at + (size_t)from + (size_t)call) % 5);
}

#define ELEMENTS(type)                                                                     \
  static void put_##type(size_t count, int call) {                                         \
    for (size_t i = 0; i < count; ++i) ((type*)input)[i] = (type)number_of(rank, i, call); \
  }                                                                                        \
  static double got_##type(size_t at) { return (double)((type*)output)[at]; }
ELEMENTS(char)
ELEMENTS(int)
ELEMENTS(float)

struct numbers {
  const char* name;
  MPI_Datatype type;
  size_t bytes;
  void (*put)(size_t count, int call);
  double (*got)(size_t at);
};

static void sums(const char* what, const struct numbers* of, size_t first, size_t count, int call) {
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int from = 0; from < ranks; ++from) sum += number_of(from, first + i, call);
    expect(of->got(i) == sum, "%s of %s, call %d: element %zu is %g, not %g on rank %d", what,
           of->name, call, i, of->got(i), sum, rank);
  }
}

static void reductions(const struct numbers* of, size_t bytes, int call) {
  const int count = (int)(bytes / of->bytes);
  const MPI_Comm all = MPI_COMM_WORLD;
  of->put((size_t)count, call);
  MPI_Allreduce(input, output, count, of->type, MPI_SUM, all);
  sums("allreduce", of, 0, (size_t)count, call);
  of->put((size_t)count, call + 1);
  MPI_Reduce(input, output, count, of->type, MPI_SUM, 0, all);
  if (rank == 0) sums("reduce", of, 0, (size_t)count, call + 1);
  for (int i = 0; i < ranks; ++i) counts[i] = count / ranks + (i < count % ranks);
  size_t first = 0;
  for (int i = 0; i < rank; ++i) first += (size_t)counts[i];
  of->put((size_t)count, call + 2);
  MPI_Reduce_scatter(input, output, counts, of->type, MPI_SUM, all);
  sums("reduce_scatter", of, first, (size_t)counts[rank], call + 2);
  for (int i = 0; i < ranks; ++i) counts[i] = count / ranks;
  of->put((size_t)counts[0] * (size_t)ranks, call + 3);
  MPI_Reduce_scatter_block(input, output, counts[0], of->type, MPI_SUM, all);
  sums("reduce_scatter_block", of, (size_t)rank * (size_t)counts[0], (size_t)counts[0], call + 3);
}

/* The standard defines no sums of characters; most MPIs have them. */
static int has_sums(const struct numbers* of) {
  MPI_Comm trial;
  MPI_Comm_dup(MPI_COMM_SELF, &trial);
  MPI_Comm_set_errhandler(trial, MPI_ERRORS_RETURN);
  of->put(1, 0);
  const int status = MPI_Allreduce(input, output, 1, of->type, MPI_SUM, trial);
  MPI_Comm_free(&trial);
  return status == MPI_SUCCESS && of->got(0) == number_of(rank, 0, 0);
}

static unsigned char* whole_pages(size_t bytes) {
  void* room = NULL;
  if (posix_memalign(&room, page, bytes) != 0) abort();
  return room;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(200, "validated");
  rank = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  const size_t room = (size_t)largest * (size_t)ranks + page;
  input = whole_pages(room);
  output = whole_pages(room);
  const struct numbers kinds[] = {
      {"characters", MPI_CHAR, sizeof(char), put_char, got_char},
      {"integers", MPI_INT, sizeof(int), put_int, got_int},
      {"numbers", MPI_FLOAT, sizeof(float), put_float, got_float},
  };
  for (enum way way = allgather; way < ways; ++way) {
    for (int bytes = 1; bytes <= largest; bytes *= 4) {
      spread_evenly(bytes);
      for (int call = 0; call < calls; ++call) one_call(way, bytes, call);
    }
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (!has_sums(&kinds[i])) continue;
    for (size_t bytes = kinds[i].bytes; bytes <= largest; bytes *= 4) {
      for (int call = 0; call < calls; ++call) reductions(&kinds[i], bytes, call);
    }
  }
  free(input);
  free(output);
  MPI_Finalize();
  return verdict();
}
