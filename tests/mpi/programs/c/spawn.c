/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * spawn [FILE]: spawns two children of the same program and communicates with them on an
 * intercommunicator and on a merged communicator, while parents and children communicate among
 * themselves. FILE is preloaded into the children.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { children = 2 };

static void use(const char* who, MPI_Comm comm) {
  for (int i = 0; i < 12; ++i) {
    int all = -1;
    MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(all == i * size_of(comm), "%s: allreduce gives %d in round %d", who, all, i);
    int word = rank_in(comm) == 0 ? i : -1;
    MPI_Bcast(&word, 1, MPI_INT, 0, comm);
    expect(word == i, "%s: bcast gives %d in round %d", who, word, i);
    MPI_Barrier(comm);
  }
}

static void use_between(MPI_Comm between, int others) {
  const int one = 1;
  for (int i = 0; i < 12; ++i) {
    int all = -1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, between);
    expect(all == others, "between parents and children: allreduce gives %d", all);
    MPI_Barrier(between);
  }
}

static void work(MPI_Comm between, int is_child) {
  int others = 0;
  MPI_Comm_remote_size(between, &others);
  use("world", MPI_COMM_WORLD);
  use_between(between, others);
  MPI_Comm merged;
  MPI_Intercomm_merge(between, is_child, &merged);
  use("merged", merged);
  use("world again", MPI_COMM_WORLD);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
  use("world at the end", MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent;
  MPI_Comm between;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    work(parent, 1);
  } else {
    use("world before", MPI_COMM_WORLD);
    char preload[1024];
    char* with_env[] = {preload, "HUDDLE_ACTIVATE_AFTER=0", argv[0], NULL};
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argc > 1 ? argv[1] : "");
    MPI_Comm_spawn("/usr/bin/env", with_env, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
    work(between, 0);
  }
  MPI_Finalize();
  return verdict();
}
