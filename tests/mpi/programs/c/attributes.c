/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A program keeps attributes on communicators whose delete callbacks communicate, on the
 * communicator being freed and on others. An MPI deletes the latest attribute first, so some ranks
 * set theirs before the first collective and others after it. The MPI then reuses the handle for a
 * communicator of other ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { uses = 6 };

typedef int (*Free)(MPI_Comm*);

static int callbacks_run = 0;

static void use(const char* where, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int ranks = size_of(comm);
  for (int i = 0; i < uses; ++i) {
    const int mine = 10 * rank + i;
    int sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    const int wanted = 5 * ranks * (ranks - 1) + ranks * i;
    expect(sum == wanted, "%s: allreduce of %d ranks gives %d, not %d", where, ranks, sum, wanted);
    const int root = i % ranks;
    int word = rank == root ? 100 * i + root : -1;
    MPI_Bcast(&word, 1, MPI_INT, root, comm);
    expect(word == 100 * i + root, "%s: bcast from %d gives %d", where, root, word);
    MPI_Barrier(comm);
  }
}

static int use_what_is_freed(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval;
  (void)value;
  (void)extra;
  ++callbacks_run;
  use("in a delete callback", comm);
  return MPI_SUCCESS;
}

/* The value is a communicator to free together with this one. */
static int free_another(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval;
  (void)extra;
  ++callbacks_run;
  MPI_Comm* other = value;
  use("before another one is freed", comm);
  MPI_Comm_free(other);
  free(other);
  use("after another one is freed", comm);
  return MPI_SUCCESS;
}

static int make_another(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval;
  (void)value;
  (void)extra;
  ++callbacks_run;
  MPI_Comm made;
  MPI_Comm_dup(comm, &made);
  use("made in a delete callback", made);
  MPI_Comm_free(&made);
  use("after one was made and freed", comm);
  return MPI_SUCCESS;
}

static int use_world(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)extra;
  ++callbacks_run;
  use("at the end, of all", MPI_COMM_WORLD);
  use("at the end, of some", *(MPI_Comm*)value);
  return MPI_SUCCESS;
}

static int keyval_for(MPI_Comm_delete_attr_function* at_delete) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_delete, &keyval, NULL);
  return keyval;
}

/* Reverses the ranks, so that cached data of another communicator would be wrong. */
static MPI_Comm reversed(MPI_Comm of) {
  MPI_Comm comm;
  MPI_Comm_split(of, 0, -rank_in(of), &comm);
  return comm;
}

static MPI_Comm half(MPI_Comm of) {
  MPI_Comm comm;
  MPI_Comm_split(of, rank_in(of) % 2, -rank_in(of), &comm);
  return comm;
}

static void set_all(MPI_Comm comm, const int* keyvals, int count) {
  for (int i = 0; i < count; ++i) MPI_Comm_set_attr(comm, keyvals[i], NULL);
}

/* Uses communicators that get the freed handle. */
static void use_next(void) {
  MPI_Comm next = half(MPI_COMM_WORLD);
  use("with a handle that was used before, half of the ranks", next);
  MPI_Comm_free(&next);
  next = reversed(MPI_COMM_WORLD);
  use("with a handle that was used before", next);
  MPI_Comm_free(&next);
}

static void come_and_go(Free end, const int* keyvals, int count, int uses_first) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (uses_first) use("before attributes are set", comm);
  set_all(comm, keyvals, count);
  if (!uses_first) use("after attributes are set", comm);
  const int before = callbacks_run;
  end(&comm);
  expect(callbacks_run >= before + count, "%d callbacks of %d ran", callbacks_run - before, count);
  expect(comm == MPI_COMM_NULL, "a freed communicator's handle is not null");
  use_next();
}

/* Sets the attribute before one rank's first collective, and after another's. */
static void set_on_both_sides(int keyval) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int is_odd = rank_in(comm) % 2;
  if (is_odd) MPI_Comm_set_attr(comm, keyval, NULL);
  use("while only some have set attributes", comm);
  if (!is_odd) MPI_Comm_set_attr(comm, keyval, NULL);
  MPI_Comm_free(&comm);
  use_next();
}

/* The communicator is not used before its callback runs. */
static void use_in_callback_only(int keyval) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, keyval, NULL);
  MPI_Comm_free(&comm);
  use_next();
}

static void free_in_callback(int keyval, int keyval_of_inner) {
  MPI_Comm outer;
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Comm* inner = malloc(sizeof *inner);
  *inner = reversed(MPI_COMM_WORLD);
  use("outer", outer);
  use("inner", *inner);
  MPI_Comm_set_attr(*inner, keyval_of_inner, NULL);
  MPI_Comm_set_attr(outer, keyval, inner);
  MPI_Comm_free(&outer);
  use_next();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  give_up_after(120, "attributes");
  const int times = argc > 1 ? atoi(argv[1]) : 1;
  const int all_uses = keyval_for(use_what_is_freed);
  const int several[] = {all_uses, keyval_for(use_what_is_freed), keyval_for(make_another)};
  const int freeing = keyval_for(free_another);
  for (int i = 0; i < times; ++i) {
    for (int uses_first = 0; uses_first < 2; ++uses_first) {
      come_and_go(MPI_Comm_free, several, 1, uses_first);
      come_and_go(MPI_Comm_free, several, 3, uses_first);
      come_and_go(MPI_Comm_disconnect, several, 1, uses_first);
    }
    set_on_both_sides(all_uses);
    use_in_callback_only(all_uses);
    free_in_callback(freeing, all_uses);
  }
  static MPI_Comm kept;
  kept = reversed(MPI_COMM_WORLD);
  use("kept until the end", kept);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval_for(use_world), &kept);
  MPI_Finalize();
  expect(callbacks_run > 0, "no callback ran");
  return verdict();
}
