/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * repeats [SEED [CALLS]]: repeats collectives with the same arguments and new data, changes one
 * argument at a time, and compares the results with those of PMPI calls. Datatypes are freed and
 * created with another layout, so that the MPI may use their handles again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "expect.h"

enum { room_ints = 4096, pairs_of_buffers = 2 };

enum operation {
  bcast,
  reduce,
  allreduce,
  scan,
  exscan,
  reduce_scatter_block,
  allgather,
  alltoall,
  gather,
  scatter,
  operations
};

/* The arguments that change between calls. They are equal on all ranks. */
struct arguments {
  enum operation operation;
  int count;
  int type;   /* 0: MPI_INT, 1: MPI_FLOAT, 2: a datatype that changes */
  int stride; /* of that datatype, in ints; it contains two */
  int op;     /* 0: MPI_SUM, 1: MPI_MAX */
  int root;
  int buffers;
  int in_place;
  int are_adjacent;   /* the output begins where the input ends */
  int leaves_out;     /* arguments that are not significant are null, or repeat another one */
  int differ_in_type; /* of the two sides, if the datatype changes */
};

static MPI_Datatype changing;
static int* inputs[pairs_of_buffers];
static int* outputs[pairs_of_buffers];

static void renew_type(int stride) {
  if (changing != MPI_DATATYPE_NULL) MPI_Type_free(&changing);
  MPI_Type_vector(2, 1, stride, MPI_INT, &changing);
  MPI_Type_commit(&changing);
}

static void call(const struct mpi_functions* mpi, const struct arguments* with, void* input,
                 void* output) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype numbers = with->type == 1 ? MPI_FLOAT : MPI_INT;
  const MPI_Datatype type = with->type == 2 ? changing : numbers;
  const MPI_Op op = with->op == 0 ? MPI_SUM : MPI_MAX;
  const int count = with->count;
  const int root = with->root;
  const int is_root = rank_in(comm) == root;
  const void* const from = with->in_place ? MPI_IN_PLACE : input;
  const int has_ints = with->type == 2 && with->differ_in_type;
  const int in_count = has_ints ? 2 * count : count;
  const MPI_Datatype in_type = has_ints ? MPI_INT : type;
  switch (with->operation) {
    case bcast:
      mpi->bcast(output, count, type, root, comm);
      break;
    case reduce:
      if (is_root)
        mpi->reduce(from, output, count, numbers, op, root, comm);
      else
        mpi->reduce(with->leaves_out ? output : input, output, count, numbers, op, root, comm);
      break;
    case allreduce:
      mpi->allreduce(from, output, count, numbers, op, comm);
      break;
    case scan:
      mpi->scan(from, output, count, numbers, op, comm);
      break;
    case exscan:
      mpi->exscan(from, output, count, numbers, op, comm);
      break;
    case reduce_scatter_block:
      mpi->reduce_scatter_block(from, output, count, numbers, op, comm);
      break;
    case allgather:
      mpi->allgather(from, in_count, in_type, output, count, type, comm);
      break;
    case alltoall:
      mpi->alltoall(from, in_count, in_type, output, count, type, comm);
      break;
    case gather:
      if (is_root)
        mpi->gather(from, in_count, in_type, output, count, type, root, comm);
      else if (with->leaves_out)
        mpi->gather(input, in_count, in_type, NULL, 0, MPI_DATATYPE_NULL, root, comm);
      else
        mpi->gather(input, in_count, in_type, input, -1, numbers, root, comm);
      break;
    case scatter:
      if (is_root && with->in_place)
        mpi->scatter(input, in_count, in_type, MPI_IN_PLACE, -1, numbers, root, comm);
      else if (!is_root && with->leaves_out)
        mpi->scatter(NULL, 0, MPI_DATATYPE_NULL, output, count, type, root, comm);
      else
        mpi->scatter(input, in_count, in_type, output, count, type, root, comm);
      break;
    case operations:
      break;
  }
}

/* Small integers, which are also valid numbers of type float, although tiny ones. */
static void fill(int* ints, unsigned seed) {
  for (int i = 0; i < room_ints; ++i) ints[i] = (int)(next_random(&seed) % 1000);
}

/* Returns the size of the largest buffer. */
static int ints_of(const struct arguments* what) {
  const int extent = what->type == 2 ? what->stride + 1 : 1;
  return what->count * extent * size_of(MPI_COMM_WORLD);
}

static void change(struct arguments* what, unsigned* random) {
  const int ranks = size_of(MPI_COMM_WORLD);
  switch (next_random(random) % 11) {
    case 0:
      what->operation = next_random(random) % operations;
      break;
    case 1:
      what->count = (int)(next_random(random) % 5);
      break;
    case 2:
      what->type = (int)(next_random(random) % 3);
      break;
    case 3:
      what->stride = 1 + (int)(next_random(random) % 3);
      renew_type(what->stride);
      break;
    case 4:
      what->op = (int)(next_random(random) % 2);
      break;
    case 5:
      what->root = (int)(next_random(random) % (unsigned)ranks);
      break;
    case 6:
      what->buffers = (int)(next_random(random) % pairs_of_buffers);
      break;
    case 7:
      what->in_place = (int)(next_random(random) % 2);
      break;
    case 8:
      what->are_adjacent = (int)(next_random(random) % 2);
      break;
    case 9:
      what->leaves_out = (int)(next_random(random) % 2);
      break;
    default:
      what->differ_in_type = (int)(next_random(random) % 2);
      break;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
  const int calls = argc > 2 ? atoi(argv[2]) : 3000;
  const int rank = rank_in(MPI_COMM_WORLD);
  const size_t bytes = room_ints * sizeof(int);
  unsigned random = seed;
  struct arguments now = {.count = 1, .stride = 1};
  int* const wanted = room_for(bytes);
  int* const begun = room_for(bytes);
  changing = MPI_DATATYPE_NULL;
  renew_type(now.stride);
  for (int i = 0; i < pairs_of_buffers; ++i) {
    inputs[i] = room_for(2 * bytes);
    outputs[i] = room_for(bytes);
  }
  for (int i = 0; i < calls; ++i) {
    if (next_random(&random) % 4 == 0) change(&now, &random);
    int* const input = inputs[now.buffers];
    int* const output = now.are_adjacent ? input + ints_of(&now) : outputs[now.buffers];
    fill(input, seed + (unsigned)(97 * i + rank));
    fill(begun, seed + (unsigned)(31 * i + rank));
    memcpy(output, begun, bytes);
    call(&with_huddle, &now, input, output);
    memcpy(wanted, begun, bytes);
    call(&without_huddle, &now, input, wanted);
    expect(
        memcmp(output, wanted, bytes) == 0,
        "seed %u, call %d: operation %d, count %d, type %d, stride %d, op %d, root %d, buffers %d, "
        "in place %d, adjacent %d, left out %d, two types %d: another result on rank %d",
        seed, i, (int)now.operation, now.count, now.type, now.stride, now.op, now.root, now.buffers,
        now.in_place, rank);
  }
  MPI_Finalize();
  return verdict();
}
