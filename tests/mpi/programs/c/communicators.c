/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Communicators of every shape, several at a time, each with collectives of its own.
 */
#include <string.h>

#include "expect.h"

enum { most_ranks = 16 };

/* Every member contributes its rank, which reveals a wrong order or a rank that is not a member. */
static void use(const char* shape, MPI_Comm comm) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  for (int times = 0; times < 3; ++times) {
    for (int root = 0; root < ranks; ++root) {
      int word = rank == root ? 100 * times + root : -1;
      MPI_Bcast(&word, 1, MPI_INT, root, comm);
      expect(word == 100 * times + root, "%s: bcast gives %d from rank %d of %d", shape, word, root,
             ranks);
      int digit = 1 << rank;
      int digits = -1;
      MPI_Reduce(&digit, &digits, 1, MPI_INT, MPI_BOR, root, comm);
      expect(rank != root || digits == (1 << ranks) - 1, "%s: reduce gives %x", shape, digits);
    }
    int mine = rank + times;
    int all = -1;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(all == ranks * (ranks - 1) / 2 + ranks * times, "%s: allreduce gives %d", shape, all);
    int sums = -1;
    MPI_Scan(&mine, &sums, 1, MPI_INT, MPI_SUM, comm);
    expect(sums == rank * (rank + 1) / 2 + (rank + 1) * times, "%s: scan gives %d", shape, sums);
    int out[most_ranks];
    int in[most_ranks];
    for (int other = 0; other < ranks; ++other) out[other] = 100 * rank + other;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int other = 0; other < ranks; ++other) {
      expect(in[other] == 100 * other + rank, "%s: alltoall gives %d", shape, in[other]);
    }
    MPI_Barrier(comm);
  }
}

static void use_and_free(const char* shape, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  use(shape, comm);
  MPI_Comm_free(&comm);
}

static MPI_Comm split(int color, int key) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  return comm;
}

static MPI_Comm from_group(void) {
  const int ranks = size_of(MPI_COMM_WORLD);
  MPI_Group world;
  MPI_Group all_but_first;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_excl(world, ranks > 1 ? 1 : 0, (int[]){0}, &all_but_first);
  MPI_Comm comm;
  MPI_Comm_create(MPI_COMM_WORLD, all_but_first, &comm);
  MPI_Group_free(&all_but_first);
  MPI_Group_free(&world);
  return comm;
}

/* Only the members of the new communicator call MPI_Comm_create_group. */
static MPI_Comm by_its_members(void) {
  const int last = size_of(MPI_COMM_WORLD) - 1;
  MPI_Group world;
  MPI_Group ends;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, last > 0 ? 2 : 1, (int[]){last, 0}, &ends);
  const int rank = rank_in(MPI_COMM_WORLD);
  if (rank == 0 || rank == last) MPI_Comm_create_group(MPI_COMM_WORLD, ends, 5, &comm);
  MPI_Group_free(&ends);
  MPI_Group_free(&world);
  return comm;
}

static MPI_Comm with_topology(void) {
  const int ranks = size_of(MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 1, &comm);
  return comm;
}

static MPI_Comm on_one_node(void) {
  MPI_Comm comm;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  return comm;
}

/* The first rank versus the others: allreduce returns the other group's sum. */
static void use_between(MPI_Comm between, int is_first, int others) {
  int mine = is_first ? 1000 : 1;
  int all = -1;
  for (int times = 0; times < 3; ++times) {
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, between);
    expect(all == (is_first ? others : 1000), "between groups: allreduce gives %d", all);
    int word = is_first ? 77 + times : -1;
    MPI_Bcast(&word, 1, MPI_INT, is_first ? MPI_ROOT : 0, between);
    expect(word == 77 + times, "between groups: bcast gives %d", word);
    int gotten[most_ranks];
    MPI_Allgather(&mine, 1, MPI_INT, gotten, 1, MPI_INT, between);
    expect(gotten[0] == (is_first ? 1 : 1000), "between groups: allgather gives %d", gotten[0]);
    /* Other ranks of the root's group pass arguments that must not be examined. */
    MPI_Gather(is_first ? NULL : &mine, is_first ? -1 : 1, is_first ? MPI_DATATYPE_NULL : MPI_INT,
               is_first ? gotten : NULL, 1, is_first ? MPI_INT : MPI_DATATYPE_NULL,
               is_first ? MPI_ROOT : 0, between);
    expect(!is_first || gotten[others - 1] == 1, "between groups: gather gives %d", gotten[0]);
    int sum = -1;
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, is_first ? MPI_ROOT : 0, between);
    expect(!is_first || sum == others, "between groups: reduce gives %d", sum);
    MPI_Barrier(between);
  }
}

static void try_between_groups(void) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const int is_first = rank == 0;
  MPI_Comm mine = split(is_first, 0);
  MPI_Comm between;
  MPI_Comm merged;
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 9, &between);
  use_between(between, is_first, size_of(MPI_COMM_WORLD) - 1);
  MPI_Intercomm_merge(between, is_first, &merged);
  use("merged", merged);
  use("one side of an intercommunicator", mine);
  MPI_Comm_free(&between);
  use_and_free("merged, when what it was made of is gone", merged);
  MPI_Comm_free(&mine);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm duplicate;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  use("world", MPI_COMM_WORLD);
  use("duplicate", duplicate);
  MPI_Comm of_duplicate;
  MPI_Comm_dup(duplicate, &of_duplicate);
  MPI_Comm backwards = split(0, -rank);
  use("backwards", backwards);
  use("duplicate of a duplicate", of_duplicate);
  MPI_Comm_free(&duplicate);
  use("a duplicate whose original is gone", of_duplicate);
  use_and_free("odd and even", split(rank % 2, rank));
  use_and_free("alone", split(rank, 0));
  use_and_free("some do not belong", split(rank == 1 ? MPI_UNDEFINED : 0, 0));
  use_and_free("from a group", from_group());
  use_and_free("by its members", by_its_members());
  use_and_free("with a topology", with_topology());
  use_and_free("on one node", on_one_node());
  use("self", MPI_COMM_SELF);
  if (size_of(MPI_COMM_WORLD) > 1) try_between_groups();
  use_and_free("backwards again", backwards);
  use_and_free("duplicate of a duplicate again", of_duplicate);
  use("world at the end", MPI_COMM_WORLD);
  MPI_Finalize();
  return verdict();
}
