/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Moves blocks between ranks by allgather, all-to-all, gather, scatter and their v-forms, with many
 * sizes, in place, with gaps that must not change, and by the large-count functions.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { most_ranks = 16, most_ints = 400000, gap = 3, untouched = -77 };
static int* input;
static int* output;
static int salt;

/* Returns the i-th integer that one rank sends to another. */
static int value(int from, int to, int i) { return 1000003 * from + 10007 * to + i + salt; }

static void clear(int* room) {
  for (int i = 0; i < most_ints; ++i) room[i] = untouched;
}

static void put(int* room, int from, int to, int count) {
  for (int i = 0; i < count; ++i) room[i] = value(from, to, i);
}

/* Returns how many of these integers did not arrive correctly. */
static int wrong_in(const int* room, int from, int to, int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += room[i] != value(from, to, i);
  return wrong;
}

static int touched(const int* room, int count) {
  int changed = 0;
  for (int i = 0; i < count; ++i) changed += room[i] != untouched;
  return changed;
}

/* A list of blocks with gaps between them, the last rank's block first. */
struct list {
  int counts[most_ranks];
  int places[most_ranks];
  MPI_Count large_counts[most_ranks];
  MPI_Aint large_places[most_ranks];
  int end;
};

typedef int counter(int rank, int other, int size);

static struct list make_list(int ranks, int rank, int size, counter* count_of) {
  struct list list = {.end = gap};
  for (int other = ranks - 1; other >= 0; --other) {
    list.counts[other] = count_of(rank, other, size);
    list.places[other] = list.end;
    list.large_counts[other] = list.counts[other];
    list.large_places[other] = list.places[other];
    list.end += list.counts[other] + gap;
  }
  return list;
}

/* Returns the size of a block: 0, 1, half of `size`, or `size`. */
static int spread(int giver, int getter, int size) {
  const int kind = (giver * 3 + getter) % 4;
  return kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? size / 2 : size;
}
static int from_me(int rank, int other, int size) { return spread(rank, other, size); }
static int to_me(int rank, int other, int size) { return spread(other, rank, size); }
static int to_all(int rank, int other, int size) {
  (void)rank;
  return spread(other, 0, size);
}
static int alike(int rank, int other, int size) {
  return rank < other ? spread(rank, other, size) : spread(other, rank, size);
}

static void check_list(const char* what, const struct list* list, int ranks, int rank, int to_one,
                       int size) {
  int wrong = touched(output, gap);
  for (int other = 0; other < ranks; ++other) {
    const int* block = output + list->places[other];
    wrong += wrong_in(block, other, to_one ? 0 : rank, list->counts[other]);
    wrong += touched(block + list->counts[other], gap);
  }
  wrong += touched(output + list->end, 100);
  expect(wrong == 0, "%s of %d integers on rank %d: %d are wrong", what, size, rank, wrong);
}

static void check_even(const char* what, int ranks, int rank, int to_one, int size) {
  int wrong = touched(output + ranks * size, 100);
  for (int other = 0; other < ranks; ++other) {
    wrong += wrong_in(output + other * size, other, to_one ? 0 : rank, size);
  }
  expect(wrong == 0, "%s of %d integers on rank %d: %d are wrong", what, size, rank, wrong);
}

static void try_allgather(MPI_Comm comm, int large, int size) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  for (int in_place = 0; in_place < 2; ++in_place) {
    ++salt;
    clear(output);
    put(in_place ? output + rank * size : input, rank, 0, size);
    const void* from = in_place ? MPI_IN_PLACE : input;
#if MPI_VERSION >= 4
    if (large) MPI_Allgather_c(from, size, MPI_INT, output, size, MPI_INT, comm);
#endif
    if (!large) MPI_Allgather(from, size, MPI_INT, output, size, MPI_INT, comm);
    check_even(in_place ? "allgather in place" : "allgather", ranks, rank, 1, size);
  }
}

static void try_allgatherv(MPI_Comm comm, int large, int size) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const struct list list = make_list(ranks, rank, size, to_all);
  const int mine = list.counts[rank];
  for (int in_place = 0; in_place < 2; ++in_place) {
    ++salt;
    clear(output);
    put(in_place ? output + list.places[rank] : input, rank, 0, mine);
    const void* from = in_place ? MPI_IN_PLACE : input;
#if MPI_VERSION >= 4
    if (large) {
      MPI_Allgatherv_c(from, mine, MPI_INT, output, list.large_counts, list.large_places, MPI_INT,
                       comm);
    }
#endif
    if (!large) {
      MPI_Allgatherv(from, mine, MPI_INT, output, list.counts, list.places, MPI_INT, comm);
    }
    check_list(in_place ? "allgatherv in place" : "allgatherv", &list, ranks, rank, 1, size);
  }
}

static void try_alltoall(MPI_Comm comm, int large, int size) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  for (int in_place = 0; in_place < 2; ++in_place) {
    ++salt;
    clear(output);
    int* from = in_place ? output : input;
    for (int other = 0; other < ranks; ++other) put(from + other * size, rank, other, size);
    const void* given = in_place ? MPI_IN_PLACE : input;
#if MPI_VERSION >= 4
    if (large) MPI_Alltoall_c(given, size, MPI_INT, output, size, MPI_INT, comm);
#endif
    if (!large) MPI_Alltoall(given, size, MPI_INT, output, size, MPI_INT, comm);
    check_even(in_place ? "alltoall in place" : "alltoall", ranks, rank, 0, size);
  }
}

static void put_list(int* room, const struct list* list, int ranks, int rank) {
  for (int other = 0; other < ranks; ++other) {
    put(room + list->places[other], rank, other, list->counts[other]);
  }
}

static void try_alltoallv(MPI_Comm comm, int large, int size) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  for (int in_place = 0; in_place < 2; ++in_place) {
    const struct list out = make_list(ranks, rank, size, in_place ? alike : from_me);
    const struct list in = make_list(ranks, rank, size, in_place ? alike : to_me);
    ++salt;
    clear(output);
    put_list(in_place ? output : input, &out, ranks, rank);
    const void* given = in_place ? MPI_IN_PLACE : input;
#if MPI_VERSION >= 4
    if (large) {
      MPI_Alltoallv_c(given, out.large_counts, out.large_places, MPI_INT, output, in.large_counts,
                      in.large_places, MPI_INT, comm);
    }
#endif
    if (!large) {
      MPI_Alltoallv(given, out.counts, out.places, MPI_INT, output, in.counts, in.places, MPI_INT,
                    comm);
    }
    check_list(in_place ? "alltoallv in place" : "alltoallv", &in, ranks, rank, 0, size);
  }
}

/* Displacements are in bytes, and every second block has the type MPI_BYTE. */
struct typed {
  struct list list;
  MPI_Datatype types[most_ranks];
};

static struct typed in_bytes(const struct list* list, int ranks) {
  struct typed typed = {.list = *list};
  for (int other = 0; other < ranks; ++other) {
    typed.list.places[other] *= (int)sizeof(int);
    typed.list.large_places[other] *= (MPI_Aint)sizeof(int);
    typed.types[other] = MPI_INT;
    if (other % 2 == 0) continue;
    typed.types[other] = MPI_BYTE;
    typed.list.counts[other] *= (int)sizeof(int);
    typed.list.large_counts[other] *= (MPI_Count)sizeof(int);
  }
  return typed;
}

static void try_alltoallw(MPI_Comm comm, int large, int size) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  for (int in_place = 0; in_place < 2; ++in_place) {
    const struct list outgoing = make_list(ranks, rank, size, in_place ? alike : from_me);
    const struct list incoming = make_list(ranks, rank, size, in_place ? alike : to_me);
    const struct typed out = in_bytes(&outgoing, ranks);
    const struct typed in = in_bytes(&incoming, ranks);
    ++salt;
    clear(output);
    put_list(in_place ? output : input, &outgoing, ranks, rank);
    const void* given = in_place ? MPI_IN_PLACE : input;
#if MPI_VERSION >= 4
    if (large) {
      MPI_Alltoallw_c(given, out.list.large_counts, out.list.large_places, out.types, output,
                      in.list.large_counts, in.list.large_places, in.types, comm);
    }
#endif
    if (!large) {
      MPI_Alltoallw(given, out.list.counts, out.list.places, out.types, output, in.list.counts,
                    in.list.places, in.types, comm);
    }
    check_list(in_place ? "alltoallw in place" : "alltoallw", &incoming, ranks, rank, 0, size);
  }
}

/* Arguments that are not significant on a rank are invalid, so that examining them fails or
 * crashes. */
static int* const nowhere = NULL;

static void try_gather(MPI_Comm comm, int large, int size, int root) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const int is_root = rank == root;
  for (int in_place = 0; in_place < 2; ++in_place) {
    ++salt;
    clear(output);
    put(in_place && is_root ? output + rank * size : input, rank, 0, size);
    const void* from = in_place && is_root ? MPI_IN_PLACE : input;
    int* to = is_root ? output : nowhere;
    const int count = is_root ? size : -1;
    const MPI_Datatype type = is_root ? MPI_INT : MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
    if (large) MPI_Gather_c(from, size, MPI_INT, to, count, type, root, comm);
#endif
    if (!large) MPI_Gather(from, size, MPI_INT, to, count, type, root, comm);
    if (is_root) check_even(in_place ? "gather in place" : "gather", ranks, rank, 1, size);
  }
}

static void try_gatherv(MPI_Comm comm, int large, int size, int root) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const int is_root = rank == root;
  const struct list list = make_list(ranks, rank, size, to_all);
  const int mine = list.counts[rank];
  for (int in_place = 0; in_place < 2; ++in_place) {
    ++salt;
    clear(output);
    put(in_place && is_root ? output + list.places[rank] : input, rank, 0, mine);
    const void* from = in_place && is_root ? MPI_IN_PLACE : input;
#if MPI_VERSION >= 4
    if (large) {
      MPI_Gatherv_c(from, mine, MPI_INT, is_root ? output : nowhere,
                    is_root ? list.large_counts : NULL, is_root ? list.large_places : NULL,
                    is_root ? MPI_INT : MPI_DATATYPE_NULL, root, comm);
    }
#endif
    if (!large) {
      MPI_Gatherv(from, mine, MPI_INT, is_root ? output : nowhere, is_root ? list.counts : NULL,
                  is_root ? list.places : NULL, is_root ? MPI_INT : MPI_DATATYPE_NULL, root, comm);
    }
    if (!is_root) continue;
    check_list(in_place ? "gatherv in place" : "gatherv", &list, ranks, rank, 1, size);
  }
}

static void try_scatter(MPI_Comm comm, int large, int size, int root) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const int is_root = rank == root;
  for (int in_place = 0; in_place < 2; ++in_place) {
    ++salt;
    clear(output);
    for (int other = 0; other < ranks && is_root; ++other) {
      put(input + other * size, root, other, size);
    }
    void* to = in_place && is_root ? MPI_IN_PLACE : output;
    const int count = is_root ? size : -1;
    const MPI_Datatype type = is_root ? MPI_INT : MPI_DATATYPE_NULL;
#if MPI_VERSION >= 4
    if (large) {
      MPI_Scatter_c(is_root ? input : nowhere, count, type, to, size, MPI_INT, root, comm);
    }
#endif
    if (!large) MPI_Scatter(is_root ? input : nowhere, count, type, to, size, MPI_INT, root, comm);
    const int gotten = in_place && is_root ? 0 : size;
    const int wrong = wrong_in(output, root, rank, gotten) + touched(output + gotten, 100);
    expect(wrong == 0, "scatter of %d integers from %d: %d are wrong", size, root, wrong);
  }
}

static void try_scatterv(MPI_Comm comm, int large, int size, int root) {
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const int is_root = rank == root;
  const struct list list = make_list(ranks, root, size, from_me);
  const int mine = list.counts[rank];
  for (int in_place = 0; in_place < 2; ++in_place) {
    ++salt;
    clear(output);
    if (is_root) put_list(input, &list, ranks, root);
    void* to = in_place && is_root ? MPI_IN_PLACE : output;
#if MPI_VERSION >= 4
    if (large) {
      MPI_Scatterv_c(is_root ? input : nowhere, is_root ? list.large_counts : NULL,
                     is_root ? list.large_places : NULL, is_root ? MPI_INT : MPI_DATATYPE_NULL, to,
                     mine, MPI_INT, root, comm);
    }
#endif
    if (!large) {
      MPI_Scatterv(is_root ? input : nowhere, is_root ? list.counts : NULL,
                   is_root ? list.places : NULL, is_root ? MPI_INT : MPI_DATATYPE_NULL, to, mine,
                   MPI_INT, root, comm);
    }
    const int gotten = in_place && is_root ? 0 : mine;
    const int wrong = wrong_in(output, root, rank, gotten) + touched(output + gotten, 100);
    expect(wrong == 0, "scatterv of %d integers from %d: %d are wrong", size, root, wrong);
  }
}

static void try_all(MPI_Comm comm, int large, int size) {
  try_allgather(comm, large, size);
  try_allgatherv(comm, large, size);
  try_alltoall(comm, large, size);
  try_alltoallv(comm, large, size);
  try_alltoallw(comm, large, size);
  for (int root = 0; root < size_of(comm); ++root) {
    try_gather(comm, large, size, root);
    try_gatherv(comm, large, size, root);
    try_scatter(comm, large, size, root);
    try_scatterv(comm, large, size, root);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  input = room_for(most_ints * sizeof *input);
  output = room_for(most_ints * sizeof *output);
  const int sizes[] = {1, 0, 2, 13, 400, 5000, 60000};
  MPI_Comm backwards;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &backwards);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    try_all(MPI_COMM_WORLD, 0, sizes[i]);
#if MPI_VERSION >= 4
    try_all(MPI_COMM_WORLD, 1, sizes[i]);
#endif
    try_all(backwards, 0, sizes[i]);
    try_all(MPI_COMM_SELF, 0, sizes[i]);
  }
  MPI_Comm_free(&backwards);
  MPI_Finalize();
  return verdict();
}
