/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Moves the same integers, with a different layout on each rank and in each block, by all-to-all,
 * gather and scatter: they must arrive where the types place them, and no gap may change.
 */
#include <string.h>

#include "expect.h"
#include "layouts.h"

enum { most_ranks = 8 };

/* One block: integers of some layout in memory of its own. */
struct block {
  unsigned char room[layout_room];
  unsigned char wanted[layout_room];
  struct layout layout;
};
static struct block* given;
static struct block* gotten;

static void number(int numbers[layout_ints], int from, int to) {
  for (int i = 0; i < layout_ints; ++i) numbers[i] = 100000 * from + 1000 * to + i;
}

/* Makes the block from one rank to another. A layout with addresses refers to this memory. */
static void make_given(struct block* block, int which, int from, int to) {
  int numbers[layout_ints];
  number(numbers, from, to);
  block->layout = make_layout(which % layout_count, block->room);
  fill(&block->layout, block->room, numbers);
  memcpy(block->wanted, block->room, layout_room);
}

static void make_gotten(struct block* block, int which, int from, int to) {
  const int none[layout_ints] = {0};
  make_given(block, which, from, to);
  fill(&block->layout, block->room, none);
}

static void check(const char* what, const struct block* block, int from, int to) {
  expect(memcmp(block->room, block->wanted, layout_room) == 0, "%s from rank %d to rank %d, as %s",
         what, from, to, block->layout.name);
}

/* Blocks with a type each, located by their distance in bytes from the first block. */
struct lists {
  int counts[most_ranks];
  int places[most_ranks];
  MPI_Datatype types[most_ranks];
  void* address;
};

static struct lists list(struct block* blocks, int ranks) {
  struct lists lists = {.address = blocks[0].room};
  for (int i = 0; i < ranks; ++i) {
    const int is_absolute = blocks[i].layout.address == MPI_BOTTOM;
    const unsigned char* at =
        is_absolute ? (unsigned char*)blocks[i].layout.plain_address : blocks[i].layout.address;
    lists.counts[i] = blocks[i].layout.count;
    lists.types[i] = is_absolute ? blocks[i].layout.plain_type : blocks[i].layout.type;
    lists.places[i] = (int)(at - blocks[0].room);
  }
  return lists;
}

static void free_blocks(struct block* blocks, int count) {
  for (int i = 0; i < count; ++i) free_layout(&blocks[i].layout);
}

static void exchange(MPI_Comm comm, int first) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  for (int other = 0; other < ranks; ++other) {
    make_given(&given[other], first + rank + 3 * other, rank, other);
    make_gotten(&gotten[other], first + 5 * rank + other, other, rank);
  }
  const struct lists out = list(given, ranks);
  const struct lists in = list(gotten, ranks);
  MPI_Alltoallw(out.address, out.counts, out.places, out.types, in.address, in.counts, in.places,
                in.types, comm);
  for (int other = 0; other < ranks; ++other) {
    check("alltoallw", &gotten[other], other, rank);
    check("what alltoallw was given", &given[other], rank, other);
  }
  free_blocks(given, ranks);
  free_blocks(gotten, ranks);
}

/* Replaces the layout with a negative extent, for which gathers of Open MPI itself fail. */
static int upward(int which) { return which % layout_count == layout_downward ? 0 : which; }

/* Uses one layout for the input and another for the output, with contiguous blocks. */
static void gather_and_scatter(MPI_Comm comm, int first, int root) {
  enum { ints = layout_ints };
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int dense[most_ranks * ints];
  struct block* block = &given[0];
  const struct layout* layout = &block->layout;
  make_given(block, upward(first + rank), rank, root);
  memset(dense, 0, sizeof dense);
  MPI_Gather(layout->address, layout->count, layout->type, dense, ints, MPI_INT, root, comm);
  for (int from = 0; from < ranks && rank == root; ++from) {
    int numbers[ints];
    number(numbers, from, root);
    expect(memcmp(dense + from * ints, numbers, sizeof numbers) == 0, "gather from rank %d", from);
  }
  memset(dense, 0, sizeof dense);
  MPI_Allgather(layout->address, layout->count, layout->type, dense, ints, MPI_INT, comm);
  for (int from = 0; from < ranks; ++from) {
    int numbers[ints];
    number(numbers, from, root);
    expect(memcmp(dense + from * ints, numbers, sizeof numbers) == 0, "allgather from rank %d",
           from);
  }
  free_layout(&block->layout);
  make_gotten(block, upward(first + rank), root, rank);
  for (int to = 0; to < ranks; ++to) number(dense + to * ints, root, to);
  MPI_Scatter(dense, ints, MPI_INT, layout->address, layout->count, layout->type, root, comm);
  check("scatter", block, root, rank);
  free_layout(&block->layout);
}

/* Gathers and scatters columns of a matrix, which are interleaved blocks, in place at the root or
 * not. */
static void columns(MPI_Comm comm, int root) {
  enum { rows = 50 };
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int matrix[rows * most_ranks];
  int mine[rows];
  MPI_Datatype strided;
  MPI_Datatype column;
  MPI_Type_vector(rows, 1, most_ranks, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  for (int in_place = 0; in_place < 2; ++in_place) {
    for (int i = 0; i < rows; ++i) mine[i] = 1000 * rank + i;
    memset(matrix, -1, sizeof matrix);
    for (int i = 0; i < rows && in_place; ++i) matrix[i * most_ranks + rank] = mine[i];
    if (in_place) {
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, matrix, 1, column, comm);
    } else {
      MPI_Allgather(mine, rows, MPI_INT, matrix, 1, column, comm);
    }
    int wrong = 0;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < most_ranks; ++j) {
        wrong += matrix[i * most_ranks + j] != (j < ranks ? 1000 * j + i : -1);
      }
    }
    expect(wrong == 0, "allgather of columns: %d are wrong", wrong);
    memset(matrix, -1, sizeof matrix);
    for (int i = 0; i < rows; ++i) matrix[i * most_ranks + rank] = mine[i];
    const int is_in_place = in_place && rank == root;
    MPI_Gather(is_in_place ? MPI_IN_PLACE : mine, rows, MPI_INT, matrix, 1, column, root, comm);
    wrong = 0;
    for (int i = 0; i < rows * most_ranks && rank == root; ++i) {
      const int j = i % most_ranks;
      wrong += matrix[i] != (j < ranks ? 1000 * j + i / most_ranks : -1);
    }
    expect(wrong == 0, "gather of columns: %d are wrong", wrong);
    memset(mine, 0, sizeof mine);
    MPI_Scatter(matrix, 1, column, is_in_place ? MPI_IN_PLACE : mine, rows, MPI_INT, root, comm);
    wrong = 0;
    for (int i = 0; i < rows && !is_in_place; ++i) wrong += mine[i] != 1000 * rank + i;
    expect(wrong == 0, "scatter of columns: %d are wrong", wrong);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&strided);
}

/* Exchanges columns of a matrix in place. */
static void transpose(MPI_Comm comm) {
  enum { depth = 30 };
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int matrix[depth * most_ranks];
  int counts[most_ranks];
  int places[most_ranks];
  MPI_Datatype strided;
  MPI_Datatype column;
  MPI_Type_vector(depth, 1, most_ranks, MPI_INT, &strided);
  MPI_Type_create_resized(strided, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  for (int other = 0; other < ranks; ++other) {
    counts[other] = 1;
    places[other] = ranks - 1 - other;
  }
  for (int i = 0; i < depth * most_ranks; ++i) matrix[i] = 100000 * rank + i;
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, matrix, counts, places, column, comm);
  int wrong = 0;
  for (int i = 0; i < depth * most_ranks; ++i) {
    const int at = i % most_ranks;
    const int other = ranks - 1 - at;
    const int there = at < ranks ? i - at + ranks - 1 - rank : i;
    wrong += matrix[i] != 100000 * (at < ranks ? other : rank) + there;
  }
  expect(wrong == 0, "alltoallv of columns in place: %d are wrong", wrong);
  MPI_Type_free(&column);
  MPI_Type_free(&strided);
}

/* Addresses in types: both buffers are MPI_BOTTOM, which does not make the call in place. */
static void absolute(MPI_Comm comm) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  double from[most_ranks];
  double to[most_ranks];
  MPI_Datatype out[most_ranks];
  MPI_Datatype in[most_ranks];
  int counts[most_ranks];
  int places[most_ranks] = {0};
  for (int other = 0; other < ranks; ++other) {
    const int one = 1;
    MPI_Aint address;
    from[other] = 10 * rank + other;
    to[other] = -1;
    counts[other] = 1;
    MPI_Get_address(&from[other], &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_DOUBLE, &out[other]);
    MPI_Get_address(&to[other], &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_DOUBLE, &in[other]);
    MPI_Type_commit(&out[other]);
    MPI_Type_commit(&in[other]);
  }
  MPI_Alltoallw(MPI_BOTTOM, counts, places, out, MPI_BOTTOM, counts, places, in, comm);
  for (int other = 0; other < ranks; ++other) {
    expect(to[other] == 10 * other + rank, "alltoallw by addresses gives %f", to[other]);
    MPI_Type_free(&out[other]);
    MPI_Type_free(&in[other]);
  }
}

/* Types without data, and blocks of them. */
static void nothing(MPI_Comm comm) {
  MPI_Datatype empty;
  int room[most_ranks] = {0};
  int counts[most_ranks];
  const int zeros[most_ranks] = {0};
  for (int i = 0; i < most_ranks; ++i) counts[i] = 5;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Allgather(room, 3, empty, room + 1, 3, empty, comm);
  MPI_Gather(room, 0, MPI_INT, room + 1, 0, MPI_INT, 0, comm);
  MPI_Alltoallv(room, counts, zeros, empty, room + 1, counts, zeros, empty, comm);
  MPI_Gatherv(room, 0, MPI_INT, room + 1, zeros, zeros, MPI_INT, 0, comm);
  for (int i = 0; i < most_ranks; ++i) expect(room[i] == 0, "blocks of nothing wrote something");
  MPI_Type_free(&empty);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  given = room_for(most_ranks * sizeof *given);
  gotten = room_for(most_ranks * sizeof *gotten);
  for (int first = 0; first < layout_count; ++first) {
    exchange(MPI_COMM_WORLD, first);
    for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root) {
      gather_and_scatter(MPI_COMM_WORLD, first, root);
    }
  }
  for (int root = 0; root < size_of(MPI_COMM_WORLD); ++root) columns(MPI_COMM_WORLD, root);
  transpose(MPI_COMM_WORLD);
  absolute(MPI_COMM_WORLD);
  nothing(MPI_COMM_WORLD);
  MPI_Finalize();
  return verdict();
}
