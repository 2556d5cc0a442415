/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * What huddle takes over several nodes: barrier, bcast, allreduce and allgather, in the world and
 * in communicators of every shape. At the end rank 0 says what sums of numbers by chance came to,
 * so that runs can be compared bit by bit.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static const int sizes[] = {1, 2, 7, 64, 1000, 8192, 50001};
enum { size_count = sizeof sizes / sizeof sizes[0], most = 50001, most_ranks = 64 };

static uint64_t hash_of_sums = 1469598103934665603ULL;

static void hash(const void* data, size_t bytes) {
  const unsigned char* at = data;
  for (size_t i = 0; i < bytes; ++i) hash_of_sums = (hash_of_sums ^ at[i]) * 1099511628211ULL;
}

static int value(int rank, int i, int times) { return rank * 1000003 + i * 17 + times; }

static void bcasts(const char* shape, MPI_Comm comm, int count, int times) {
  int* data = room_for(sizeof(int) * (size_t)count);
  for (int root = 0; root < size_of(comm); ++root) {
    for (int i = 0; i < count; ++i) data[i] = rank_in(comm) == root ? value(root, i, times) : -1;
    MPI_Bcast(data, count, MPI_INT, root, comm);
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += data[i] != value(root, i, times);
    expect(wrong == 0, "%s: bcast of %d from %d: %d wrong", shape, count, root, wrong);
  }
  free(data);
}

static void allgathers(const char* shape, MPI_Comm comm, int count, int times) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int* mine = room_for(sizeof(int) * (size_t)count);
  int* all = room_for(sizeof(int) * (size_t)count * (size_t)ranks);
  for (int in_place = 0; in_place < 2; ++in_place) {
    memset(all, -1, sizeof(int) * (size_t)count * (size_t)ranks);
    int* const from = in_place ? all + (size_t)rank * (size_t)count : mine;
    for (int i = 0; i < count; ++i) from[i] = value(rank, i, times);
    MPI_Allgather(in_place ? MPI_IN_PLACE : mine, count, MPI_INT, all, count, MPI_INT, comm);
    int wrong = 0;
    for (int other = 0; other < ranks; ++other) {
      for (int i = 0; i < count; ++i) wrong += all[other * count + i] != value(other, i, times);
    }
    expect(wrong == 0, "%s: allgather of %d in place %d: %d wrong", shape, count, in_place, wrong);
  }
  free(mine);
  free(all);
}

static void sums(const char* shape, MPI_Comm comm, int count, unsigned seed) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int64_t* whole = room_for(sizeof(int64_t) * (size_t)count);
  double* mine = room_for(sizeof(double) * (size_t)count);
  double* joined = room_for(sizeof(double) * (size_t)count);
  double* first = room_for(sizeof(double) * (size_t)count);
  seed += (unsigned)rank * 7919U;
  for (int i = 0; i < count; ++i) {
    whole[i] = (int64_t)rank * i + 1;
    mine[i] = (double)next_random(&seed) / 1e3 + 1e-7 * (double)next_random(&seed);
  }
  MPI_Allreduce(MPI_IN_PLACE, whole, count, MPI_INT64_T, MPI_SUM, comm);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    wrong += whole[i] != (int64_t)i * ranks * (ranks - 1) / 2 + ranks;
  }
  expect(wrong == 0, "%s: allreduce of %d: %d wrong", shape, count, wrong);
  MPI_Allreduce(mine, joined, count, MPI_DOUBLE, MPI_SUM, comm);
  memcpy(first, joined, sizeof(double) * (size_t)count);
  MPI_Bcast(first, count, MPI_DOUBLE, 0, comm);
  expect(memcmp(first, joined, sizeof(double) * (size_t)count) == 0,
         "%s: sums of %d have other bits on rank %d", shape, count, rank);
  hash(joined, sizeof(double) * (size_t)count);
  free(whole);
  free(mine);
  free(joined);
  free(first);
}

/* Strings of ranks, put behind each other: not commutative. */
struct row {
  int first;
  int last;
  int broken;
};
static void append(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct row* left = in;
  struct row* right = inout;
  for (int i = 0; i < *count; ++i) {
    right[i].broken |= left[i].broken || left[i].last + 1 != right[i].first;
    right[i].first = left[i].first;
  }
}
static void rows(const char* shape, MPI_Comm comm) {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(append, 0, &op);
  struct row mine[3];
  struct row all[3];
  for (int i = 0; i < 3; ++i) mine[i] = (struct row){rank_in(comm), rank_in(comm), 0};
  MPI_Allreduce(mine, all, 3, type, op, comm);
  for (int i = 0; i < 3; ++i) {
    expect(!all[i].broken && all[i].first == 0 && all[i].last == size_of(comm) - 1,
           "%s: ranks were joined out of order", shape);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

/* Every second int on some ranks. (Nothing of the kind in an allgather: that of Open MPI 5.0 itself
 * brings wrong bytes.) */
static void gaps(const char* shape, MPI_Comm comm) {
  MPI_Datatype type;
  MPI_Type_vector(5, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int root = 0; root < size_of(comm); ++root) {
    const int has_gaps = (rank_in(comm) + root) % 2;
    int data[10] = {0};
    for (int i = 0; i < 5 && rank_in(comm) == root; ++i)
      data[has_gaps ? 2 * i : i] = value(root, i, 0);
    MPI_Bcast(data, has_gaps ? 1 : 5, has_gaps ? type : MPI_INT, root, comm);
    int wrong = 0;
    for (int i = 0; i < 5; ++i) wrong += data[has_gaps ? 2 * i : i] != value(root, i, 0);
    expect(wrong == 0, "%s: bcast of a type with gaps: %d wrong", shape, wrong);
  }
  MPI_Type_free(&type);
}

/* Nobody leaves before the last has come: by the one clock of the machine that all hosts are on. */
static void barriers(const char* shape, MPI_Comm comm) {
  for (int late = 0; late < size_of(comm); ++late) {
    MPI_Barrier(comm);
    double came = seconds_now();
    if (rank_in(comm) == late) {
      while (seconds_now() - came < 0.005) continue;
      came = seconds_now();
    }
    MPI_Barrier(comm);
    const double left = seconds_now();
    MPI_Bcast(&came, 1, MPI_DOUBLE, late, comm);
    expect(left >= came, "%s: left a barrier %g s before rank %d came", shape, came - left, late);
  }
}

static void use(const char* shape, MPI_Comm comm) {
  for (int times = 0; times < 2; ++times) {
    for (int at = 0; at < size_count; ++at) {
      bcasts(shape, comm, sizes[at], times);
      allgathers(shape, comm, sizes[at], times);
      sums(shape, comm, sizes[at], (unsigned)(at + times));
    }
    rows(shape, comm);
    gaps(shape, comm);
    barriers(shape, comm);
    int none = 0;
    MPI_Bcast(&none, 0, MPI_INT, 0, comm);
    MPI_Allreduce(MPI_IN_PLACE, &none, 0, MPI_INT, MPI_SUM, comm);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(100, "the program stands still\n");
  const int rank = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  use("world", MPI_COMM_WORLD);
  MPI_Comm comms[4];
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &comms[3]);
  const char* const shapes[] = {"duplicate", "every second", "backwards", "halves"};
  for (int i = 0; i < 4; ++i) use(shapes[i], comms[i]);
  /* Two in turns, whose messages must not meet. */
  for (int i = 0; i < 50; ++i) {
    bcasts("in turns", comms[i % 4], 5, i);
    allgathers("in turns", comms[(i + 1) % 4], 5, i);
  }
  for (int i = 0; i < 4; ++i) MPI_Comm_free(&comms[i]);
  /* One after the other. */
  for (int i = 0; i < 30; ++i) {
    MPI_Comm one;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    bcasts("one of many", one, 3, i);
    MPI_Comm_free(&one);
  }
  uint64_t same = hash_of_sums;
  MPI_Bcast(&same, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sums: %016llx\n", (unsigned long long)same);
  MPI_Finalize();
  return verdict();
}
