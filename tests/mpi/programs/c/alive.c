/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Calls MPI_Finalize while communicators still exist. Other communicators are freed right after
 * their last collective, while other ranks may still be in it. A delete callback of MPI_COMM_SELF
 * makes calls at the end.
 */
#include <stdio.h>

#include "expect.h"

static void use(MPI_Comm comm) {
  for (int i = 0; i < 10; ++i) {
    int all = -1;
    MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(all == i * size_of(comm), "allreduce gives %d", all);
  }
}

/* A delete callback of MPI_COMM_SELF, in which the standard permits MPI calls. */
static int at_the_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)value;
  (void)extra;
  int one = 1;
  int all = -1;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  expect(all == size_of(MPI_COMM_WORLD), "at the end allreduce gives %d", all);
  printf("at the end\n");
  fflush(stdout);
  return MPI_SUCCESS;
}

/* MPI_Comm_free is collective, but may return before the other ranks call it. */
static void free_without_waiting(void) {
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int word = i;
    MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    MPI_Allreduce(MPI_IN_PLACE, &word, 1, MPI_INT, MPI_MAX, comm);
    MPI_Bcast(&word, 1, MPI_INT, i % size_of(comm), comm);
    MPI_Comm_free(&comm);
    expect(word == i, "the last bcast of a communicator gives %d, not %d", word, i);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static MPI_Comm kept[5];
  for (int i = 0; i < 5; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &kept[i]);
    use(kept[i]);
  }
  free_without_waiting();
  int keyval;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
  MPI_Finalize();
  return verdict();
}
