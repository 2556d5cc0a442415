/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * unusual CASE: makes CALLS calls with unusual arguments that MPIs accept. Not every MPI accepts
 * all of them.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { calls = 80, most_ranks = 16, values = 3 };

/* One array contains both the sent and the received blocks. Rank 0 sends one to each rank. */
static void disjoint_halves(int rank, int ranks) {
  int array[2 * most_ranks];
  int sent[most_ranks] = {0};
  int sent_from[most_ranks];
  int received[most_ranks] = {0};
  int received_at[most_ranks];
  for (int i = 0; i < ranks; ++i) {
    sent[i] = rank == 0;
    sent_from[i] = i;
    received_at[i] = ranks + i;
    array[i] = 100 + i;
    array[ranks + i] = -1;
  }
  received[0] = 1;
  MPI_Alltoallv(array, sent, sent_from, MPI_INT, array, received, received_at, MPI_INT,
                MPI_COMM_WORLD);
  expect(array[ranks] == 100 + rank, "alltoallv in halves of one array: %d", array[ranks]);
}

/* Sends the second member of a structure, and receives the first one of all structures. */
static void other_member(int rank, int ranks) {
  struct {
    double first, second;
  } pairs[most_ranks];
  const int one = 1;
  const MPI_Aint at[] = {0, sizeof(double)};
  MPI_Datatype members[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Datatype plain;
    MPI_Type_create_hindexed(1, &one, &at[i], MPI_DOUBLE, &plain);
    MPI_Type_create_resized(plain, 0, 2 * sizeof(double), &members[i]);
    MPI_Type_commit(&members[i]);
    MPI_Type_free(&plain);
  }
  for (int i = 0; i < ranks; ++i) pairs[i].second = 10 + rank;
  MPI_Allgather(pairs, 1, members[1], pairs, 1, members[0], MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    expect(pairs[i].first == 10 + i, "allgather of another member: %g", pairs[i].first);
  MPI_Type_free(&members[0]);
  MPI_Type_free(&members[1]);
}

static void add(void* left, void* right, int* count, MPI_Datatype* type) {
  MPI_Aint lower_bound;
  MPI_Aint extent;
  MPI_Aint first;
  MPI_Aint span;
  MPI_Type_get_extent(*type, &lower_bound, &extent);
  MPI_Type_get_true_extent(*type, &first, &span);
  for (int i = 0; i < *count; ++i) {
    const double* a = (const double*)((MPI_Aint)left + first + i * extent);
    double* b = (double*)((MPI_Aint)right + first + i * extent);
    for (int k = 0; k < values; ++k) b[k] += a[k];
  }
}

/* The datatype contains the address of the data. */
static void absolute_addresses(int rank, int ranks) {
  double data[values];
  MPI_Aint address;
  const int count = values;
  MPI_Datatype type;
  MPI_Op op;
  for (int k = 0; k < values; ++k) data[k] = rank + k;
  MPI_Get_address(data, &address);
  MPI_Type_create_hindexed(1, &count, &address, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD);
  for (int k = 0; k < values; ++k)
    expect(data[k] == ranks * (ranks - 1) / 2 + ranks * k, "allreduce at an address: %g", data[k]);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

/* Each displacement is the address of a block. */
static void absolute_displacements(int rank, int ranks) {
#if MPI_VERSION >= 4
  int data[most_ranks];
  int mine = -1;
  MPI_Count counts[most_ranks];
  MPI_Aint addresses[most_ranks];
  for (int i = 0; i < ranks; ++i) {
    data[i] = 1000 + i;
    counts[i] = sizeof(int);
    MPI_Get_address(&data[i], &addresses[i]);
  }
  MPI_Scatterv_c(MPI_BOTTOM, counts, addresses, MPI_BYTE, &mine, sizeof(int), MPI_BYTE, 0,
                 MPI_COMM_WORLD);
  expect(mine == 1000 + rank, "scatterv from addresses: %d", mine);
#else
  (void)rank;
  (void)ranks;
  exit(1);
#endif
}

/* Rank 0 has room for two elements in each block, although every rank sends one. */
static void larger_blocks(int rank, int ranks) {
  int sent[most_ranks];
  int received[2 * most_ranks];
  for (int i = 0; i < ranks; ++i) sent[i] = 10 * rank + i;
  memset(received, -1, sizeof received);
  const int room = rank == 0 ? 2 : 1;
  MPI_Alltoall(sent, 1, MPI_INT, received, room, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i)
    expect(received[i * room] == 10 * i + rank, "alltoall with room: %d", received[i * room]);
  if (rank == 0) expect(received[1] == -1, "alltoall writes behind the data: %d", received[1]);
}

/* MPI_DOUBLE_INT has 12 bytes of data in 16. A program may keep data of its own in the gap, and the
 * gap of the last pair may be outside its buffer. */
static void pairs_with_gaps(int rank, int ranks) {
  struct {
    double value;
    int rank;
    int own;
  } pairs[3];
  for (int i = 0; i < 3; ++i) {
    pairs[i].value = i + rank;
    pairs[i].rank = rank;
    pairs[i].own = 100 * rank + i;
  }
  MPI_Allreduce(MPI_IN_PLACE, pairs, 2, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    const int winner = i < 2 ? ranks - 1 : rank;
    expect(pairs[i].value == i + winner && pairs[i].rank == winner, "pair %d is of rank %d", i,
           pairs[i].rank);
    expect(pairs[i].own == 100 * rank + i, "the gap of pair %d is %d", i, pairs[i].own);
  }
  struct {
    double value;
    int rank;
    int own;
  } result = {-1, -1, 7};
  MPI_Scan(pairs, &result, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  expect(result.value == ranks - 1 && result.own == 7, "scan gives %g, and writes %d to the gap",
         result.value, result.own);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*call)(int rank, int ranks);
  } cases[] = {{"halves", disjoint_halves},       {"member", other_member},
               {"addresses", absolute_addresses}, {"displacements", absolute_displacements},
               {"room", larger_blocks},           {"gaps", pairs_with_gaps}};
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (argc < 2 || strcmp(argv[1], cases[i].name) != 0) continue;
    for (int call = 0; call < calls; ++call) cases[i].call(rank, ranks);
  }
  MPI_Finalize();
  return verdict();
}
