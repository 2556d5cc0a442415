/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Calls whose arguments are wrong on the root only. With huddle, the other ranks do not wait for
 * the root, and no byte outside of the buffers is written. The MPIs' own behavior differs.
 */
#include "expect.h"

enum { most_ranks = 16, beyond = 77 };
static int given[4];
static int gotten[2 * most_ranks + 1];

static int class_of(int status) {
  int class = -1;
  MPI_Error_class(status, &class);
  return class;
}

static void expect_class(const char* what, int status, int at_root) {
  const int wanted = rank_in(MPI_COMM_WORLD) == 0 ? at_root : MPI_SUCCESS;
  expect(class_of(status) == wanted, "%s gives error %d, not %d", what, class_of(status), wanted);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int ranks = size_of(comm);
  const int rank = rank_in(comm);
  const int is_root = rank == 0;
  int counts[most_ranks];
  int places[most_ranks];
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 4; ++i) given[i] = rank;
  for (int i = 0; i <= 2 * ranks; ++i) gotten[i] = beyond;
  for (int i = 0; i < ranks; ++i) counts[i] = 2;
  for (int i = 0; i < ranks; ++i) places[i] = 2 * i;

  const MPI_Datatype none = is_root ? MPI_DATATYPE_NULL : MPI_INT;
  expect_class("gather of no type", MPI_Gather(given, 2, MPI_INT, gotten, 2, none, 0, comm),
               MPI_ERR_TYPE);
  expect_class("gather of more than there is room for",
               MPI_Gather(given, is_root ? 4 : 2, MPI_INT, gotten, 2, MPI_INT, 0, comm),
               MPI_ERR_TRUNCATE);
  expect(!is_root || (gotten[0] == 0 && gotten[2] == 1), "gather gives %d", gotten[2]);
  gotten[0] = beyond;
  expect_class(
      "gatherv of nothing from its root",
      MPI_Gatherv(given, is_root ? 0 : 2, MPI_INT, gotten, counts, places, MPI_INT, 0, comm),
      MPI_SUCCESS);
  expect(!is_root || (gotten[0] == beyond && gotten[2] == 1), "gatherv gives %d", gotten[0]);
  int mine[2] = {5, 5};
  expect_class("scatter into no room",
               MPI_Scatter(gotten, 2, MPI_INT, mine, is_root ? 1 : 2, MPI_INT, 0, comm),
               MPI_ERR_TRUNCATE);
  expect(!is_root || mine[1] == 5, "scatter writes %d beyond its room", mine[1]);
  expect(gotten[2 * ranks] == beyond, "what is behind a buffer was written");
  MPI_Finalize();
  return verdict();
}
