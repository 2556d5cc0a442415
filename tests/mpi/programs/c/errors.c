/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * errors [WHAT...]: erroneous calls, most of them the same on all ranks. Prints each call before it
 * is made, and then its error class and how often the program's handler was called. The driver runs
 * it with and without huddle; WHAT names calls at which this MPI itself crashes or hangs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static int handled;
static char** left_out;

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
}

/* Returns whether huddle is active from the first call on a communicator. */
static int takes_at_once(void) {
  const char* activate_after = getenv("HUDDLE_ACTIVATE_AFTER");
  return activate_after != NULL && strcmp(activate_after, "0") == 0;
}

static int starts(const char* what) {
  for (char** name = left_out; *name != NULL; ++name) {
    if (strcmp(*name, what) == 0) return 0;
  }
  if (rank_in(MPI_COMM_WORLD) == 0) printf("tries %s\n", what);
  fflush(stdout);
  return 1;
}

static void say(const char* handler, const char* what, int status) {
  int class = -1;
  MPI_Error_class(status, &class);
  if (rank_in(MPI_COMM_WORLD) == 0) printf("%s, %s: %d, %d\n", handler, what, class, handled);
  handled = 0;
}

static int numbers[8];
static int results[8];
static int counts[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static int places[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Valid calls must work after erroneous ones. */
static void sum_up(MPI_Comm comm) {
  int sum = -1;
  int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(sum == size_of(comm), "after an error at the root allreduce gives %d", sum);
}

static void wrong_roots(const char* handler, MPI_Comm comm) {
  const int ranks = size_of(comm);
  if (starts("bcast from -5"))
    say(handler, "bcast from -5", MPI_Bcast(numbers, 1, MPI_INT, -5, comm));
  if (starts("bcast from beyond"))
    say(handler, "bcast from beyond", MPI_Bcast(numbers, 1, MPI_INT, ranks, comm));
  if (starts("reduce to beyond"))
    say(handler, "reduce to beyond",
        MPI_Reduce(numbers, results, 1, MPI_INT, MPI_SUM, ranks + 3, comm));
  if (starts("bcast from MPI_PROC_NULL"))
    say(handler, "bcast from MPI_PROC_NULL", MPI_Bcast(numbers, 1, MPI_INT, MPI_PROC_NULL, comm));
}

static void wrong_counts(const char* handler, MPI_Comm comm) {
  if (starts("bcast of -1")) say(handler, "bcast of -1", MPI_Bcast(numbers, -1, MPI_INT, 0, comm));
  if (starts("reduce of -1"))
    say(handler, "reduce of -1", MPI_Reduce(numbers, results, -1, MPI_INT, MPI_SUM, 0, comm));
  if (starts("allreduce of -1"))
    say(handler, "allreduce of -1", MPI_Allreduce(numbers, results, -1, MPI_INT, MPI_SUM, comm));
#if MPI_VERSION >= 4
  /* Its lower 32 bits are 0, a valid count. */
  if (starts("bcast of -2^32"))
    say(handler, "bcast of -2^32", MPI_Bcast_c(numbers, -((MPI_Count)1 << 32), MPI_INT, 0, comm));
#endif
}

static void wrong_types(const char* handler, MPI_Comm comm) {
  if (starts("bcast of no type"))
    say(handler, "bcast of no type", MPI_Bcast(numbers, 1, MPI_DATATYPE_NULL, 0, comm));
  if (starts("reduce of no type"))
    say(handler, "reduce of no type",
        MPI_Reduce(numbers, results, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, comm));
  if (starts("allreduce of no type"))
    say(handler, "allreduce of no type",
        MPI_Allreduce(numbers, results, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  if (starts("bcast of a type not committed"))
    say(handler, "bcast of a type not committed", MPI_Bcast(numbers, 1, pair, 0, comm));
  if (starts("bcast of many of a type not committed"))
    say(handler, "bcast of many of a type not committed", MPI_Bcast(numbers, 3, pair, 0, comm));
  MPI_Type_commit(&pair);
  say(handler, "bcast of a type that is now", MPI_Bcast(numbers, 1, pair, 0, comm));
  if (starts("allreduce of a derived type by MPI_SUM"))
    say(handler, "allreduce of a derived type by MPI_SUM",
        MPI_Allreduce(numbers, results, 1, pair, MPI_SUM, comm));
  MPI_Type_free(&pair);
}

static void wrong_operators(const char* handler, MPI_Comm comm) {
  float reals[] = {1, 2};
  float more[] = {3, 4};
  if (starts("reduce by no operator"))
    say(handler, "reduce by no operator",
        MPI_Reduce(numbers, results, 1, MPI_INT, MPI_OP_NULL, 0, comm));
  if (starts("allreduce by no operator"))
    say(handler, "allreduce by no operator",
        MPI_Allreduce(numbers, results, 1, MPI_INT, MPI_OP_NULL, comm));
  if (starts("allreduce of reals by MPI_BAND"))
    say(handler, "allreduce of reals by MPI_BAND",
        MPI_Allreduce(reals, more, 1, MPI_FLOAT, MPI_BAND, comm));
  if (starts("allreduce of integers by MPI_MAXLOC"))
    say(handler, "allreduce of integers by MPI_MAXLOC",
        MPI_Allreduce(numbers, results, 1, MPI_INT, MPI_MAXLOC, comm));
  if (starts("allreduce by MPI_REPLACE"))
    say(handler, "allreduce by MPI_REPLACE",
        MPI_Allreduce(numbers, results, 1, MPI_INT, MPI_REPLACE, comm));
}

static void wrong_buffers(const char* handler, MPI_Comm comm) {
  if (starts("bcast at no address"))
    say(handler, "bcast at no address", MPI_Bcast(NULL, 2, MPI_INT, 0, comm));
  if (starts("allreduce into no address"))
    say(handler, "allreduce into no address",
        MPI_Allreduce(numbers, NULL, 2, MPI_INT, MPI_SUM, comm));
  if (starts("allreduce of aliases"))
    say(handler, "allreduce of aliases",
        MPI_Allreduce(numbers, numbers, 2, MPI_INT, MPI_SUM, comm));
  if (starts("bcast in place"))
    say(handler, "bcast in place", MPI_Bcast(MPI_IN_PLACE, 2, MPI_INT, 0, comm));
}

/* Derived datatypes at address zero are wrong unless they contain addresses themselves. */
static void derived_types_at_no_address(const char* handler, MPI_Comm comm) {
  MPI_Datatype pair, gap;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &gap);
  MPI_Type_commit(&pair);
  MPI_Type_commit(&gap);
  if (starts("bcast of a dense type at no address"))
    say(handler, "bcast of a dense type at no address", MPI_Bcast(NULL, 2, pair, 0, comm));
  if (starts("bcast of a type with gaps at no address"))
    say(handler, "bcast of a type with gaps at no address", MPI_Bcast(NULL, 2, gap, 0, comm));
  if (starts("allgather of a dense type from no address"))
    say(handler, "allgather of a dense type from no address",
        MPI_Allgather(NULL, 1, pair, results, 1, pair, comm));
  if (starts("alltoall of a dense type into no address"))
    say(handler, "alltoall of a dense type into no address",
        MPI_Alltoall(numbers, 1, pair, NULL, 1, pair, comm));
  MPI_Type_free(&gap);
  MPI_Type_free(&pair);
}

/* Uses a separate communicator, because of the state that an error leaves behind. */
static MPI_Comm apart(MPI_Comm comm) {
  MPI_Comm aside;
  MPI_Comm_dup(comm, &aside);
  return aside;
}

/* Wrong at the root only: an MPI leaves the other ranks in the call, and their next calls on this
 * communicator are undefined. With huddle, which was active before, it remains usable. */
static void wrong_at_root(const char* handler, MPI_Comm comm) {
  if (!starts("reduce of aliases")) return;
  const MPI_Comm aside = apart(comm);
  for (int count = 0; count <= 2; ++count) {
    const int is_root = rank_in(aside) == 0;
    int* output = is_root ? numbers : results;
    say(handler, "reduce of aliases",
        MPI_Reduce(numbers, output, count, MPI_INT, MPI_SUM, 0, aside));
    if (takes_at_once()) sum_up(aside);
  }
}

/* The root's own block is an alias. The other ranks have sent theirs by then. */
static void gathers_of_aliases(const char* handler, MPI_Comm comm) {
  if (starts("gather of aliases")) {
    const MPI_Comm aside = apart(comm);
    say(handler, "gather of aliases",
        MPI_Gather(numbers, 1, MPI_INT, numbers, 1, MPI_INT, 0, aside));
    if (takes_at_once()) sum_up(aside);
  }
  if (starts("gatherv of aliases")) {
    const MPI_Comm aside = apart(comm);
    say(handler, "gatherv of aliases",
        MPI_Gatherv(numbers, 1, MPI_INT, numbers, counts, places, MPI_INT, 0, aside));
    if (takes_at_once()) sum_up(aside);
  }
}

/* The other ranks wait until the root makes a valid call. */
static void scatters_of_aliases(const char* handler, MPI_Comm comm) {
  const int is_root = rank_in(comm) == 0;
  int* output = is_root ? numbers : results;
  if (starts("scatter of aliases")) {
    const MPI_Comm aside = apart(comm);
    const int status = MPI_Scatter(numbers, 1, MPI_INT, output, 1, MPI_INT, 0, aside);
    const int is_refused = handled > 0 || status != MPI_SUCCESS;
    say(handler, "scatter of aliases", status);
    if (is_root && is_refused) MPI_Scatter(numbers, 1, MPI_INT, results, 1, MPI_INT, 0, aside);
    if (takes_at_once()) sum_up(aside);
  }
  if (starts("scatterv of aliases")) {
    const MPI_Comm aside = apart(comm);
    const int status = MPI_Scatterv(numbers, counts, places, MPI_INT, output, 1, MPI_INT, 0, aside);
    const int is_refused = handled > 0 || status != MPI_SUCCESS;
    say(handler, "scatterv of aliases", status);
    if (is_root && is_refused)
      MPI_Scatterv(numbers, counts, places, MPI_INT, results, 1, MPI_INT, 0, aside);
    if (takes_at_once()) sum_up(aside);
  }
}

static void wrong_moves(const char* handler, MPI_Comm comm) {
  const int ranks = size_of(comm);
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  if (starts("gather to beyond"))
    say(handler, "gather to beyond",
        MPI_Gather(numbers, 1, MPI_INT, results, 1, MPI_INT, ranks, comm));
  if (starts("scatterv from -7"))
    say(handler, "scatterv from -7",
        MPI_Scatterv(numbers, counts, places, MPI_INT, results, 1, MPI_INT, -7, comm));
  if (starts("allgather of -1"))
    say(handler, "allgather of -1",
        MPI_Allgather(numbers, -1, MPI_INT, results, -1, MPI_INT, comm));
  if (starts("alltoall of no type"))
    say(handler, "alltoall of no type", MPI_Alltoall(numbers, 1, none, results, 1, none, comm));
  if (starts("alltoallv of no type"))
    say(handler, "alltoallv of no type",
        MPI_Alltoallv(numbers, counts, places, none, results, counts, places, none, comm));
  if (starts("allgatherv into place"))
    say(handler, "allgatherv into place",
        MPI_Allgatherv(numbers, 1, MPI_INT, MPI_IN_PLACE, counts, places, MPI_INT, comm));
  if (starts("alltoall of aliases"))
    say(handler, "alltoall of aliases",
        MPI_Alltoall(numbers, 1, MPI_INT, numbers, 1, MPI_INT, comm));
  if (starts("allgather of aliases"))
    say(handler, "allgather of aliases",
        MPI_Allgather(numbers + rank_in(comm), 1, MPI_INT, numbers, 1, MPI_INT, comm));
}

static void wrong_scans(const char* handler, MPI_Comm comm) {
  if (starts("scan by no operator"))
    say(handler, "scan by no operator", MPI_Scan(numbers, results, 1, MPI_INT, MPI_OP_NULL, comm));
  if (starts("exscan of no type"))
    say(handler, "exscan of no type",
        MPI_Exscan(numbers, results, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  if (starts("scan of aliases"))
    say(handler, "scan of aliases", MPI_Scan(numbers, numbers, 2, MPI_INT, MPI_SUM, comm));
  if (starts("exscan of aliases"))
    say(handler, "exscan of aliases", MPI_Exscan(numbers, numbers, 2, MPI_INT, MPI_SUM, comm));
  if (starts("reduce_scatter_block of -1"))
    say(handler, "reduce_scatter_block of -1",
        MPI_Reduce_scatter_block(numbers, results, -1, MPI_INT, MPI_SUM, comm));
  counts[1] = -1;
  if (starts("reduce_scatter of -1"))
    say(handler, "reduce_scatter of -1",
        MPI_Reduce_scatter(numbers, results, counts, MPI_INT, MPI_SUM, comm));
  counts[1] = 1;
}

/* Valid calls must work after erroneous ones. */
static void go_on(const char* handler, MPI_Comm comm) {
  int one = 1;
  int all = -1;
  MPI_Barrier(comm);
  say(handler, "what is right", MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm));
  expect(all == size_of(comm), "after errors allreduce gives %d", all);
}

static void try_all(const char* handler, MPI_Comm comm) {
  for (int i = 0; i < 3; ++i) go_on(handler, comm);
  wrong_roots(handler, comm);
  wrong_counts(handler, comm);
  wrong_types(handler, comm);
  wrong_operators(handler, comm);
  wrong_buffers(handler, comm);
  derived_types_at_no_address(handler, comm);
  wrong_at_root(handler, comm);
  gathers_of_aliases(handler, comm);
  scatters_of_aliases(handler, comm);
  wrong_moves(handler, comm);
  wrong_scans(handler, comm);
  go_on(handler, comm);
}

/* Errors without a communicator go to the handler of MPI_COMM_WORLD or, since MPI 4, of
 * MPI_COMM_SELF. */
static void without_communicator(MPI_Errhandler own, MPI_Comm freed) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, own);
  if (starts("barrier of nobody")) {
    say("no communicator", "barrier", MPI_Barrier(MPI_COMM_NULL));
  }
  if (starts("bcast of nobody")) {
    say("no communicator", "bcast", MPI_Bcast(numbers, 1, MPI_INT, 0, MPI_COMM_NULL));
  }
#ifndef OPEN_MPI /* its handles are addresses, which it reads after they were freed */
  if (starts("barrier on a freed communicator")) {
    say("freed communicator", "barrier", MPI_Barrier(freed));
  }
  if (starts("allreduce on a freed communicator")) {
    say("freed communicator", "allreduce",
        MPI_Allreduce(numbers, results, 1, MPI_INT, MPI_SUM, freed));
  }
#else
  (void)freed;
#endif
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  left_out = argv + 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  try_all("errors return", MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(on_error, &own);
  MPI_Comm_set_errhandler(comm, own);
  try_all("own handler", comm);
  const MPI_Comm freed = comm;
  MPI_Comm_free(&comm);
  without_communicator(own, freed);
  MPI_Errhandler_free(&own);
  MPI_Finalize();
  return verdict();
}
