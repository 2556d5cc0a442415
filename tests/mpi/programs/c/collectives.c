/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
#include "collectives.h"

#include "expect.h"

const struct mpi_functions with_huddle = {MPI_Bcast,
                                          MPI_Reduce,
                                          MPI_Allreduce,
                                          MPI_Scan,
                                          MPI_Exscan,
                                          MPI_Reduce_scatter,
                                          MPI_Reduce_scatter_block,
                                          MPI_Allgather,
                                          MPI_Allgatherv,
                                          MPI_Alltoall,
                                          MPI_Alltoallv,
                                          MPI_Alltoallw,
                                          MPI_Gather,
                                          MPI_Gatherv,
                                          MPI_Scatter,
                                          MPI_Scatterv};
const struct mpi_functions without_huddle = {PMPI_Bcast,
                                             PMPI_Reduce,
                                             PMPI_Allreduce,
                                             PMPI_Scan,
                                             PMPI_Exscan,
                                             PMPI_Reduce_scatter,
                                             PMPI_Reduce_scatter_block,
                                             PMPI_Allgather,
                                             PMPI_Allgatherv,
                                             PMPI_Alltoall,
                                             PMPI_Alltoallv,
                                             PMPI_Alltoallw,
                                             PMPI_Gather,
                                             PMPI_Gatherv,
                                             PMPI_Scatter,
                                             PMPI_Scatterv};

typedef const struct mpi_functions functions;

enum { most_ranks = 8, gap = 2 };

/* Blocks of one size, with gaps between them or contiguous. */
struct list {
  int counts[most_ranks];
  int places[most_ranks];
  int bytes[most_ranks];
  MPI_Datatype types[most_ranks];
};

static struct list list_of(const struct shape* shape, int distance) {
  struct list list;
  for (int i = 0; i < size_of(shape->comm); ++i) {
    list.counts[i] = shape->count;
    list.places[i] = i * distance;
    list.bytes[i] = i * distance * (int)sizeof(int);
    list.types[i] = MPI_INT;
  }
  return list;
}

static struct list spread(const struct shape* shape) { return list_of(shape, shape->count + gap); }

/* Returns the input, or MPI_IN_PLACE. */
static const void* given(const struct shape* shape, const void* input) {
  return shape->in_place ? MPI_IN_PLACE : input;
}
static const void* given_to_root(const struct shape* shape, const void* input) {
  return rank_in(shape->comm) == shape->root ? given(shape, input) : input;
}

/* Returns a type of every second int. The gaps must not be written. */
static MPI_Datatype every_second(int count) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void bcast(functions* mpi, const struct shape* shape, void* input, void* output) {
  (void)input;
  mpi->bcast(output, shape->count, MPI_INT, shape->root, shape->comm);
}
static void bcast_with_gaps(functions* mpi, const struct shape* shape, void* input, void* output) {
  (void)input;
  MPI_Datatype type = every_second(shape->count);
  mpi->bcast(output, 1, type, shape->root, shape->comm);
  MPI_Type_free(&type);
}
static void reduce(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->reduce(given_to_root(shape, input), output, shape->count, MPI_INT, MPI_SUM, shape->root,
              shape->comm);
}
static void allreduce(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->allreduce(given(shape, input), output, shape->count, MPI_INT, MPI_SUM, shape->comm);
}
static void allreduce_of_pairs(functions* mpi, const struct shape* shape, void* input,
                               void* output) {
  mpi->allreduce(given(shape, input), output, shape->count / 2, MPI_SHORT_INT, MPI_MAXLOC,
                 shape->comm);
}
static void scan(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->scan(given(shape, input), output, shape->count, MPI_INT, MPI_SUM, shape->comm);
}
static void exscan(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->exscan(given(shape, input), output, shape->count, MPI_INT, MPI_MAX, shape->comm);
}
static void reduce_scatter(functions* mpi, const struct shape* shape, void* input, void* output) {
  const struct list list = spread(shape);
  mpi->reduce_scatter(input, output, list.counts, MPI_INT, MPI_SUM, shape->comm);
}
static void reduce_scatter_block(functions* mpi, const struct shape* shape, void* input,
                                 void* output) {
  mpi->reduce_scatter_block(input, output, shape->count, MPI_INT, MPI_SUM, shape->comm);
}
static void allgather(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->allgather(given(shape, input), shape->count, MPI_INT, output, shape->count, MPI_INT,
                 shape->comm);
}
static void allgatherv(functions* mpi, const struct shape* shape, void* input, void* output) {
  const struct list list = spread(shape);
  mpi->allgatherv(given(shape, input), shape->count, MPI_INT, output, list.counts, list.places,
                  MPI_INT, shape->comm);
}
static void alltoall(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->alltoall(given(shape, input), shape->count, MPI_INT, output, shape->count, MPI_INT,
                shape->comm);
}
static void alltoallv(functions* mpi, const struct shape* shape, void* input, void* output) {
  const struct list list = spread(shape);
  mpi->alltoallv(given(shape, input), list.counts, list.places, MPI_INT, output, list.counts,
                 list.places, MPI_INT, shape->comm);
}
static void alltoallw(functions* mpi, const struct shape* shape, void* input, void* output) {
  const struct list list = spread(shape);
  mpi->alltoallw(given(shape, input), list.counts, list.bytes, list.types, output, list.counts,
                 list.bytes, list.types, shape->comm);
}
static void gather(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->gather(given_to_root(shape, input), shape->count, MPI_INT, output, shape->count, MPI_INT,
              shape->root, shape->comm);
}
static void gatherv(functions* mpi, const struct shape* shape, void* input, void* output) {
  const struct list list = spread(shape);
  mpi->gatherv(given_to_root(shape, input), shape->count, MPI_INT, output, list.counts, list.places,
               MPI_INT, shape->root, shape->comm);
}
static void scatter(functions* mpi, const struct shape* shape, void* input, void* output) {
  mpi->scatter(input, shape->count, MPI_INT, output, shape->count, MPI_INT, shape->root,
               shape->comm);
}
static void scatterv(functions* mpi, const struct shape* shape, void* input, void* output) {
  const struct list list = spread(shape);
  mpi->scatterv(input, list.counts, list.places, MPI_INT, output, shape->count, MPI_INT,
                shape->root, shape->comm);
}

const struct collective collectives[] = {
    {"bcast", 0, 0, bcast},
    {"bcast with gaps", 0, 0, bcast_with_gaps},
    {"reduce", 1, 0, reduce},
    {"allreduce", 1, 0, allreduce},
    {"allreduce of pairs", 1, 1, allreduce_of_pairs},
    {"scan", 1, 0, scan},
    {"exscan", 1, 0, exscan},
    {"reduce_scatter", 0, 0, reduce_scatter},
    {"reduce_scatter_block", 0, 0, reduce_scatter_block},
    {"allgather", 1, 0, allgather},
    {"allgatherv", 1, 0, allgatherv},
    {"alltoall", 1, 0, alltoall},
    {"alltoallv", 1, 0, alltoallv},
    {"alltoallw", 1, 0, alltoallw},
    {"gather", 1, 0, gather},
    {"gatherv", 1, 0, gatherv},
    {"scatter", 0, 0, scatter},
    {"scatterv", 0, 0, scatterv},
};
const int collective_count = sizeof collectives / sizeof collectives[0];
