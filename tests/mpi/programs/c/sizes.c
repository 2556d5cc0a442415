/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Sends blocks of another size than their receiver expects. With huddle, the receiver alone gets an
 * error and nothing of the block, other blocks arrive, and the next call succeeds. MPIs themselves
 * behave differently.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { most_ranks = 16, usual = 3, most_ints = 300000, untouched = -77 };
static int* input; /* buffers of a call, with room for most_ints from and for each rank */
static int* output;
static int handled;
static int class_of_handled;

/* The size, in integers, of the one block on which the two ranks of a pair may disagree. */
struct sizes {
  int sent;
  int expected;
};
static const struct sizes differing[] = {
    {2, 1}, {1, 2}, {40, 10000}, {10000, 40}, {5, 50000}, {most_ints, 5}, {200000, most_ints}};

static int giver(MPI_Comm comm) { return size_of(comm) - 1; }
static const int getter = 0;

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++handled;
  MPI_Error_class(*code, &class_of_handled);
}

static int value(int from, int to, int i) { return 1000003 * from + 10007 * to + i; }

static int* block(int* all, int rank) { return all + (size_t)rank * most_ints; }

static int wrong_in(const int* room, int from, int to, int count) {
  int wrong = 0;
  for (int i = 0; i < most_ints; ++i)
    wrong += room[i] != (i < count ? value(from, to, i) : untouched);
  return wrong;
}

/* Makes the v-form of the call; if it has a root, the root is one end of the pair. */
static int make_call(const char* call, MPI_Comm comm, struct sizes sizes) {
  const int rank = rank_in(comm);
  const int last = giver(comm);
  int sent[most_ranks], expected[most_ranks], places[most_ranks], bytes[most_ranks];
  MPI_Datatype types[most_ranks];
  for (int other = 0; other <= last; ++other) {
    sent[other] = rank == last && other == getter ? sizes.sent : usual;
    expected[other] = rank == getter && other == last ? sizes.expected : usual;
    places[other] = other * most_ints;
    bytes[other] = (int)sizeof(int) * places[other];
    types[other] = MPI_INT;
  }
  if (strcmp(call, "alltoallv") == 0)
    return MPI_Alltoallv(input, sent, places, MPI_INT, output, expected, places, MPI_INT, comm);
  if (strcmp(call, "alltoallw") == 0)
    return MPI_Alltoallw(input, sent, bytes, types, output, expected, bytes, types, comm);
  if (strcmp(call, "gatherv") == 0)
    return MPI_Gatherv(block(input, getter), sent[getter], MPI_INT, output, expected, places,
                       MPI_INT, getter, comm);
  return MPI_Scatterv(input, sent, places, MPI_INT, block(output, last), expected[last], MPI_INT,
                      last, comm);
}

static int comes(const char* call, MPI_Comm comm, int from) {
  if (strcmp(call, "gatherv") == 0) return rank_in(comm) == getter;
  return strcmp(call, "scatterv") != 0 || from == giver(comm);
}

static void check(const char* call, MPI_Comm comm, struct sizes sizes) {
  const int rank = rank_in(comm);
  const int is_surprised = rank == getter && sizes.sent != sizes.expected;
  const int wanted = is_surprised ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  int class = -1;
  for (int i = 0; i < size_of(comm) * most_ints; ++i) output[i] = untouched;
  handled = 0;
  MPI_Error_class(make_call(call, comm, sizes), &class);
  expect(class == wanted, "%s of %d for %d gives error %d, not %d", call, sizes.sent,
         sizes.expected, class, wanted);
  if (comm != MPI_COMM_WORLD) {
    expect(handled == is_surprised, "%s calls the handler %d times", call, handled);
    expect(!is_surprised || class_of_handled == MPI_ERR_TRUNCATE, "%s hands on error %d", call,
           class_of_handled);
  }
  for (int from = 0; from < size_of(comm); ++from) {
    const int is_of_pair = rank == getter && from == giver(comm);
    const int good = is_surprised && is_of_pair ? 0 : is_of_pair ? sizes.sent : usual;
    const int wrong = wrong_in(block(output, from), from, rank, comes(call, comm, from) ? good : 0);
    expect(wrong == 0, "%s of %d for %d: %d wrong from rank %d", call, sizes.sent, sizes.expected,
           wrong, from);
  }
}

static void check_all(MPI_Comm comm) {
  const char* const calls[] = {"alltoallv", "alltoallw", "gatherv", "scatterv"};
  for (size_t call = 0; call < sizeof calls / sizeof *calls; ++call) {
    for (size_t i = 0; i < sizeof differing / sizeof *differing; ++i) {
      check(calls[call], comm, differing[i]);
      check(calls[call], comm, (struct sizes){differing[i].sent, differing[i].sent});
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(240, "calls whose sizes differ do not end\n");
  const int ranks = size_of(MPI_COMM_WORLD);
  const int rank = rank_in(MPI_COMM_WORLD);
  input = room_for((size_t)ranks * most_ints * sizeof(int));
  output = room_for((size_t)ranks * most_ints * sizeof(int));
  for (int to = 0; to < ranks; ++to) {
    for (int i = 0; i < most_ints; ++i) block(input, to)[i] = value(rank, to, i);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_all(MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Errhandler own;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(on_error, &own);
  MPI_Comm_set_errhandler(comm, own);
  check_all(comm);
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return verdict();
}
