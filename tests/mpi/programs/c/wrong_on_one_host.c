/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * wrong_on_one_host HOST [fatal] [WHAT...]: makes calls whose root, count, type or operator is
 * wrong only on the ranks of that host, which then repeat them correctly. Prints the error class of
 * each. With "fatal", the MPI's default handler gets the first error and ends the job. WHAT names
 * calls at which this MPI itself crashes or hangs.
 */
#include <stdio.h>
#include <string.h>

#include "expect.h"

enum { most = 64, block = 100 };

static int is_wrong_here;
static int is_first_here;

static char** left_out;

static int from[most * block];
static int to[most * block];

/* Returns whether this rank makes the erroneous call. */
static int is_tried(const char* what) {
  for (char** name = left_out; *name != NULL; ++name) {
    if (strcmp(*name, what) == 0) return 0;
  }
  return is_wrong_here;
}

static void say(const char* what, int status) {
  int class = -1;
  MPI_Error_class(status, &class);
  if (is_first_here) printf("%s: class %d\n", what, class);
  fflush(stdout);
}

/* Valid calls must work after erroneous ones. */
static void go_on(const char* after, MPI_Comm comm) {
  const int ranks = size_of(comm);
  int sum = -1;
  int root = rank_in(comm) == ranks - 1 ? 77 : -1;
  int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&root, 1, MPI_INT, ranks - 1, comm);
  MPI_Allgather(&one, 1, MPI_INT, to, 1, MPI_INT, comm);
  MPI_Barrier(comm);
  expect(sum == ranks && root == 77 && to[ranks - 1] == 1, "after %s: %d of %d, %d", after, sum,
         ranks, root);
}

static void bcasts(MPI_Comm comm) {
  const int beyond = size_of(comm);
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  const char* what = "bcast from beyond";
  if (is_tried(what)) say(what, MPI_Bcast(from, block, MPI_INT, beyond, comm));
  what = "bcast from -5";
  if (is_tried(what)) say(what, MPI_Bcast(from, block, MPI_INT, -5, comm));
  what = "bcast of -1";
  if (is_tried(what)) say(what, MPI_Bcast(from, -1, MPI_INT, 0, comm));
  what = "bcast of no type";
  if (is_tried(what)) say(what, MPI_Bcast(from, block, none, 0, comm));
  MPI_Bcast(from, block, MPI_INT, 0, comm);
  go_on("bcasts", comm);
}

static void reductions(MPI_Comm comm) {
  const int beyond = size_of(comm);
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  const char* what = "reduce to beyond";
  if (is_tried(what)) say(what, MPI_Reduce(from, to, block, MPI_INT, MPI_SUM, beyond, comm));
  what = "reduce by no operator";
  if (is_tried(what)) say(what, MPI_Reduce(from, to, block, MPI_INT, MPI_OP_NULL, 0, comm));
  MPI_Reduce(from, to, block, MPI_INT, MPI_SUM, 0, comm);
  go_on("reduces", comm);
  what = "allreduce of -1";
  if (is_tried(what)) say(what, MPI_Allreduce(from, to, -1, MPI_INT, MPI_SUM, comm));
  what = "allreduce of no type";
  if (is_tried(what)) say(what, MPI_Allreduce(from, to, block, none, MPI_SUM, comm));
  what = "allreduce by no operator";
  if (is_tried(what)) say(what, MPI_Allreduce(from, to, block, MPI_INT, MPI_OP_NULL, comm));
  MPI_Allreduce(from, to, block, MPI_INT, MPI_SUM, comm);
  go_on("allreduces", comm);
}

static void moves(MPI_Comm comm) {
  const int beyond = size_of(comm);
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  const char* what = "gather to beyond";
  if (is_tried(what)) say(what, MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, beyond, comm));
  what = "scatter from -7";
  if (is_tried(what)) say(what, MPI_Scatter(from, 1, MPI_INT, to, 1, MPI_INT, -7, comm));
  MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, 0, comm);
  MPI_Scatter(from, 1, MPI_INT, to, 1, MPI_INT, 0, comm);
  go_on("gather and scatter", comm);
  what = "allgather of -1";
  if (is_tried(what)) say(what, MPI_Allgather(from, -1, MPI_INT, to, -1, MPI_INT, comm));
  what = "alltoall of no type";
  if (is_tried(what)) say(what, MPI_Alltoall(from, 1, none, to, 1, none, comm));
  MPI_Allgather(from, block, MPI_INT, to, block, MPI_INT, comm);
  MPI_Alltoall(from, block, MPI_INT, to, block, MPI_INT, comm);
  go_on("allgather and alltoall", comm);
}

int main(int argc, char** argv) {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Init(&argc, &argv);
  give_up_after(60, "the program stands still\n");
  MPI_Get_processor_name(host, &length);
  left_out = argv + 1;
  is_wrong_here = argc > 1 && strcmp(host, argv[1]) == 0;
  const int own = is_wrong_here ? rank_in(MPI_COMM_WORLD) : most;
  int first = 0;
  MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  is_first_here = rank_in(MPI_COMM_WORLD) == first;
  const int is_fatal = argc > 2 && strcmp(argv[2], "fatal") == 0;
  if (!is_fatal) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) go_on("nothing", MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    bcasts(MPI_COMM_WORLD);
    reductions(MPI_COMM_WORLD);
    moves(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return verdict();
}
