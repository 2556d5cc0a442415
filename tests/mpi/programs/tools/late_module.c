/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * A module that late_loader.c loads. It tests for functions of MPI 4 by weak symbols, as the wheel
 * of mpi4py does, and calls them if they are there. Prints "fine" if the results are right.
 */
#include <mpi.h>
#include <stdio.h>

#define WEAK __attribute__((weak))
WEAK int MPI_Allgatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*,
                          const MPI_Aint*, MPI_Datatype, MPI_Comm);
WEAK int MPI_Alltoallw_c(const void*, const MPI_Count*, const MPI_Aint*, const MPI_Datatype*, void*,
                         const MPI_Count*, const MPI_Aint*, const MPI_Datatype*, MPI_Comm);
WEAK int MPI_Gatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*,
                       const MPI_Aint*, MPI_Datatype, int, MPI_Comm);
WEAK int MPI_Scatterv_c(const void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, void*,
                        MPI_Count, MPI_Datatype, int, MPI_Comm);
WEAK int MPI_Reduce_scatter_c(const void*, void*, const MPI_Count*, MPI_Datatype, MPI_Op, MPI_Comm);
WEAK int MPI_Allreduce_c(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
WEAK int MPI_Bcast_c(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
WEAK int MPI_Gather_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int,
                      MPI_Comm);
WEAK int MPI_Alltoall_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype,
                        MPI_Comm);

static int wrong;

static void expect(int value, const char* call) {
  if (value == 5) return;
  printf("%s gives %d\n", call, value);
  wrong = 1;
}

/* One rank: each call copies 5 from `from` to `to`. */
void run(void);
void run(void) {
  MPI_Init(NULL, NULL);
  const MPI_Count count = 1;
  const MPI_Aint place = 0;
  const MPI_Datatype type = MPI_INT;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int from = 5;
  int to = 0;
#define TRY(name, ...)          \
  do {                          \
    to = 0;                     \
    if (MPI_##name != NULL) {   \
      MPI_##name(__VA_ARGS__);  \
      expect(to, "MPI_" #name); \
    }                           \
  } while (0)
  TRY(Allgatherv_c, &from, 1, type, &to, &count, &place, type, comm);
  TRY(Alltoallw_c, &from, &count, &place, &type, &to, &count, &place, &type, comm);
  TRY(Gatherv_c, &from, 1, type, &to, &count, &place, type, 0, comm);
  TRY(Scatterv_c, &from, &count, &place, type, &to, 1, type, 0, comm);
  TRY(Reduce_scatter_c, &from, &to, &count, type, MPI_SUM, comm);
  TRY(Allreduce_c, &from, &to, 1, type, MPI_SUM, comm);
  TRY(Gather_c, &from, 1, type, &to, 1, type, 0, comm);
  TRY(Alltoall_c, &from, 1, type, &to, 1, type, comm);
  if (MPI_Allgatherv_c != NULL) printf("found\n");
  int data = 5;
  if (MPI_Bcast_c != NULL) MPI_Bcast_c(&data, 1, type, 0, comm);
  expect(data, "MPI_Bcast_c");
  MPI_Finalize();
  if (!wrong) printf("fine\n");
}
