/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * several_nodes [brief]: calls everything that huddle handles over several nodes: barrier, bcast,
 * gathers, scatters, all-to-alls, reductions and prefixes, on MPI_COMM_WORLD and on communicators
 * of every shape. At the end rank 0 prints sums of random numbers, so that runs can be compared bit
 * by bit. With "brief": a sixth of the calls, for an MPI that needs tens of milliseconds for each
 * if ranks share cores.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static const int sizes[] = {1, 2, 7, 64, 1000, 8192, 50001};
enum { size_count = sizeof sizes / sizeof sizes[0], most = 50001, most_ranks = 64 };

static int is_brief;

/* Returns the next root: each rank in turn or, with "brief", only the first and the last rank. */
static int root_after(int root, int ranks) {
  return is_brief && root == 0 && ranks > 1 ? ranks - 1 : root + 1;
}

static uint64_t hash_of_sums = 1469598103934665603ULL;

static void hash(const void* data, size_t bytes) {
  const unsigned char* at = data;
  for (size_t i = 0; i < bytes; ++i) hash_of_sums = (hash_of_sums ^ at[i]) * 1099511628211ULL;
}

static int value(int rank, int i, int times) { return rank * 1000003 + i * 17 + times; }

static void bcasts(const char* shape, MPI_Comm comm, int count, int times) {
  int* data = room_for(sizeof(int) * (size_t)count);
  for (int root = 0; root < size_of(comm); root = root_after(root, size_of(comm))) {
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

/* Gathers to each root, and scatters back. */
static void at_roots(const char* shape, MPI_Comm comm, int count, int times) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int* mine = room_for(sizeof(int) * (size_t)count);
  int* all = room_for(sizeof(int) * (size_t)count * (size_t)ranks);
  for (int root = 0; root < ranks; root = root_after(root, ranks)) {
    const int in_place = rank == root && (root + times) % 2;
    int* const own = all + rank * count;
    for (int i = 0; i < count; ++i) (in_place ? own : mine)[i] = value(rank, i, times);
    MPI_Gather(in_place ? MPI_IN_PLACE : mine, count, MPI_INT, all, count, MPI_INT, root, comm);
    int wrong = 0;
    for (int i = 0; rank == root && i < count * ranks; ++i) {
      wrong += all[i] != value(i / count, i % count, times);
      all[i] += 1;
    }
    expect(wrong == 0, "%s: gather of %d to %d: %d wrong", shape, count, root, wrong);
    MPI_Scatter(all, count, MPI_INT, in_place ? MPI_IN_PLACE : mine, count, MPI_INT, root, comm);
    wrong = 0;
    for (int i = 0; i < count; ++i)
      wrong += (in_place ? own : mine)[i] != value(rank, i, times) + 1;
    expect(wrong == 0, "%s: scatter of %d from %d: %d wrong", shape, count, root, wrong);
  }
  free(mine);
  free(all);
}

static void alltoalls(const char* shape, MPI_Comm comm, int count, int times) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const size_t bytes = sizeof(int) * (size_t)count * (size_t)ranks;
  int* from = room_for(bytes);
  int* to = room_for(bytes);
  for (int i = 0; i < count * ranks; ++i) from[i] = value(rank, i, times);
  MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, comm);
  MPI_Alltoall(MPI_IN_PLACE, count, MPI_INT, from, count, MPI_INT, comm);
  int wrong = 0;
  for (int i = 0; i < count * ranks; ++i) {
    const int wanted = value(i / count, rank * count + i % count, times);
    wrong += to[i] != wanted;
    wrong += from[i] != wanted;
  }
  expect(wrong == 0, "%s: alltoall of %d: %d wrong", shape, count, wrong);
  free(from);
  free(to);
}

/* Each block has 0, 1 or 2 times count / 8 integers and follows a gap. */
static void allgathervs(const char* shape, MPI_Comm comm, int count, int times) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  int counts[most_ranks];
  int places[most_ranks];
  int end = 0;
  for (int of = 0; of < ranks; ++of) {
    counts[of] = (of * 5 + times) % 3 * (count / 8);
    places[of] = ++end;
    end += counts[of];
  }
  int* mine = room_for(sizeof(int) * (size_t)(end + 1));
  int* all = room_for(sizeof(int) * (size_t)(end + 1));
  for (int i = 0; i <= end; ++i) all[i] = -1;
  for (int i = 0; i < counts[rank]; ++i) mine[i] = value(rank, i, times);
  MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, comm);
  int wrong = all[end] != -1;
  for (int of = 0; of < ranks; ++of) {
    wrong += all[places[of] - 1] != -1;
    for (int i = 0; i < counts[of]; ++i) wrong += all[places[of] + i] != value(of, i, times);
  }
  expect(wrong == 0, "%s: allgatherv of %d: %d wrong", shape, count, wrong);
  free(mine);
  free(all);
}

/* Returns the size of the block from rank `from` to rank `to`, which only these two ranks know. */
static int between(int from, int to, int count) { return (from * 3 + to + count) % 4 * count; }

/* Calls MPI_Alltoallv, MPI_Gatherv and MPI_Scatterv with gaps before the blocks. */
static void pairs(const char* shape, MPI_Comm comm, int count, int times) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const int room = 3 * count + 1;
  int sent[most_ranks];
  int received[most_ranks];
  int places[most_ranks];
  for (int of = 0; of < ranks; ++of) {
    sent[of] = between(rank, of, count);
    received[of] = between(of, rank, count);
    places[of] = of * room + 1;
  }
  const size_t size = sizeof(int) * (size_t)(ranks * room);
  int* from = room_for(size);
  int* to = room_for(size);
  memset(to, -1, size);
  for (int i = 0; i < ranks * room; ++i) from[i] = value(rank, i, times);
  MPI_Alltoallv(from, sent, places, MPI_INT, to, received, places, MPI_INT, comm);
  int wrong = 0;
  for (int of = 0; of < ranks; ++of) {
    for (int i = -1; i < room - 1; ++i) {
      const int here = i >= 0 && i < received[of];
      wrong += to[places[of] + i] != (here ? value(of, places[rank] + i, times) : -1);
    }
  }
  expect(wrong == 0, "%s: alltoallv of %d: %d wrong", shape, count, wrong);
  for (int root = 0; root < ranks; ++root) {
    memset(to, -1, size);
    for (int of = 0; of < ranks; ++of) received[of] = between(of, root, count);
    MPI_Gatherv(from, received[rank], MPI_INT, to, received, places, MPI_INT, root, comm);
    wrong = 0;
    for (int of = 0; of < ranks && rank == root; ++of) {
      for (int i = 0; i < received[of]; ++i) wrong += to[places[of] + i] != value(of, i, times);
    }
    expect(wrong == 0, "%s: gatherv of %d to %d: %d wrong", shape, count, root, wrong);
    memset(to, -1, size);
    MPI_Scatterv(from, received, places, MPI_INT, to, received[rank], MPI_INT, root, comm);
    wrong = to[received[rank]] != -1;
    for (int i = 0; i < received[rank]; ++i) wrong += to[i] != value(root, places[rank] + i, times);
    expect(wrong == 0, "%s: scatterv of %d from %d: %d wrong", shape, count, root, wrong);
  }
  free(from);
  free(to);
}

static void prefixes(const char* shape, MPI_Comm comm, int count) {
  const int64_t rank = rank_in(comm);
  int64_t* mine = room_for(sizeof(int64_t) * (size_t)count);
  int64_t* upto = room_for(sizeof(int64_t) * (size_t)count);
  int64_t* before = room_for(sizeof(int64_t) * (size_t)count);
  for (int i = 0; i < count; ++i) mine[i] = rank + i;
  MPI_Scan(mine, upto, count, MPI_INT64_T, MPI_SUM, comm);
  MPI_Exscan(mine, before, count, MPI_INT64_T, MPI_SUM, comm);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t wanted = rank * i + rank * (rank - 1) / 2;
    wrong += upto[i] != wanted + mine[i];
    wrong += rank > 0 && before[i] != wanted;
  }
  expect(wrong == 0, "%s: prefixes of %d: %d wrong", shape, count, wrong);
  free(mine);
  free(upto);
  free(before);
}

/* Sums for one rank, and scattered sums, have the same bits as sums for all. */
static void sums_elsewhere(const char* shape, MPI_Comm comm, int count, unsigned seed) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const size_t bytes = sizeof(double) * (size_t)count;
  double* mine = room_for(bytes);
  double* joined = room_for(bytes);
  double* result = room_for(bytes);
  seed += (unsigned)rank * 104729U;
  for (int i = 0; i < count; ++i) mine[i] = 1e-5 * (double)next_random(&seed);
  MPI_Allreduce(mine, joined, count, MPI_DOUBLE, MPI_SUM, comm);
  for (int root = 0; root < ranks; root = root_after(root, ranks)) {
    if (rank == root) memcpy(result, mine, bytes);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : mine, result, count, MPI_DOUBLE, MPI_SUM, root, comm);
    expect(rank != root || memcmp(result, joined, bytes) == 0,
           "%s: a reduce of %d has other bits at %d", shape, count, root);
  }
  int counts[most_ranks];
  const int block = count / ranks;
  for (int of = 0; of < ranks; ++of) counts[of] = of + 1 < ranks ? block : count - of * block;
  MPI_Reduce_scatter(mine, result, counts, MPI_DOUBLE, MPI_SUM, comm);
  const double* const wanted = joined + rank * block;
  expect(memcmp(result, wanted, sizeof(double) * (size_t)counts[rank]) == 0,
         "%s: a reduce_scatter of %d has other bits on %d", shape, count, rank);
  memset(result, 0, bytes);
  MPI_Reduce_scatter_block(mine, result, block, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(mine, joined, block * ranks, MPI_DOUBLE, MPI_SUM, comm);
  expect(memcmp(result, wanted, sizeof(double) * (size_t)block) == 0,
         "%s: a reduce_scatter_block of %d has other bits on %d", shape, block, rank);
  free(mine);
  free(joined);
  free(result);
}

/* Concatenation of sequences of ranks, which is not commutative. */
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
  const int root = size_of(comm) - 1;
  MPI_Reduce(mine, all, 3, type, op, root, comm);
  for (int i = 0; i < 3 && rank_in(comm) == root; ++i) {
    expect(!all[i].broken && all[i].first == 0 && all[i].last == root,
           "%s: ranks were joined out of order for the last", shape);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

/* Broadcasts a type of every second int on some ranks. (Does not call MPI_Allgather, which delivers
 * wrong bytes in Open MPI 5.0 itself.) */
static void gaps(const char* shape, MPI_Comm comm) {
  MPI_Datatype type;
  MPI_Type_vector(5, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int root = 0; root < size_of(comm); root = root_after(root, size_of(comm))) {
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

/* Checks that no rank leaves a barrier before the last one has arrived, by the common clock of the
 * machine that simulates all hosts. */
static void barriers(const char* shape, MPI_Comm comm) {
  for (int late = 0; late < size_of(comm); late = root_after(late, size_of(comm))) {
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
  for (int times = 0; times < (is_brief ? 1 : 2); ++times) {
    for (int at = 0; at < size_count; at += is_brief ? 3 : 1) {
      bcasts(shape, comm, sizes[at], times);
      allgathers(shape, comm, sizes[at], times);
      sums(shape, comm, sizes[at], (unsigned)(at + times));
      sums_elsewhere(shape, comm, sizes[at], (unsigned)(at + times));
      at_roots(shape, comm, sizes[at] / 4 + 1, times);
      alltoalls(shape, comm, sizes[at] / 4 + 1, times);
      allgathervs(shape, comm, sizes[at], times);
      pairs(shape, comm, sizes[at] / 8 + 1, times);
      prefixes(shape, comm, sizes[at]);
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
  is_brief = argc > 1 && strcmp(argv[1], "brief") == 0;
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
  /* Alternates between communicators, whose messages must not mix. */
  for (int i = 0; i < (is_brief ? 8 : 50); ++i) {
    bcasts("in turns", comms[i % 4], 5, i);
    allgathers("in turns", comms[(i + 1) % 4], 5, i);
  }
  for (int i = 0; i < 4; ++i) MPI_Comm_free(&comms[i]);
  /* Creates and frees communicators in sequence. */
  for (int i = 0; i < (is_brief ? 5 : 30); ++i) {
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
