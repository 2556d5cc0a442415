/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Uses a session and the world model together: communicators of both work, and the session outlives
 * the world model.
 */
#include <stdio.h>

#include "expect.h"

static void use(MPI_Comm comm) {
  for (int i = 0; i < 10; ++i) {
    int all = -1;
    MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(all == i * size_of(comm), "allreduce gives %d in round %d", all, i);
    MPI_Barrier(comm);
  }
}

#ifdef MPI_SESSION_NULL
int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Init(&argc, &argv);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "huddle.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  use(MPI_COMM_WORLD);
  use(comm);
  use(MPI_COMM_WORLD);
  MPI_Finalize();
  use(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return verdict();
}
#else
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  use(MPI_COMM_WORLD);
  printf("no sessions\n");
  MPI_Finalize();
  return verdict();
}
#endif
