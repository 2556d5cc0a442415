/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * sessions TIMES [another]: a program that uses MPI only through sessions, TIMES in sequence. With
 * "another", rank 0 opens a second session meanwhile, which is a local operation. Prints "no
 * sessions" if the MPI is too old.
 */
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"

#ifdef MPI_SESSION_NULL
static void use_session(const char* process_set, int opens_another) {
  MPI_Session session;
  MPI_Session another = MPI_SESSION_NULL;
  MPI_Group group;
  MPI_Comm comm;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) {
    expect(0, "no session could be opened");
    return;
  }
  MPI_Group_from_session_pset(session, process_set, &group);
  MPI_Comm_create_from_group(group, "huddle.test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  if (opens_another && rank_in(comm) == 0) {
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &another);
  }
  for (int i = 0; i < 20; ++i) {
    int one = i;
    int all = -1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
    expect(all == i * size_of(comm), "in a session allreduce gives %d", all);
    MPI_Bcast(&one, 1, MPI_INT, 0, comm);
    MPI_Barrier(comm);
  }
  MPI_Comm_free(&comm);
  if (another != MPI_SESSION_NULL) MPI_Session_finalize(&another);
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  for (int times = argc > 1 ? atoi(argv[1]) : 1; times > 0; --times) {
    use_session("mpi://WORLD", argc > 2);
  }
  return verdict();
}
#else
int main(void) {
  printf("no sessions\n");
  return 0;
}
#endif
