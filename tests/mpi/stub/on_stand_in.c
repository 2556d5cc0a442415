/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Calls the functions of stand_in.c and prints "done". With -DPLUGIN it is a library. With an
 * argument, the program also calls MPI_Scan, which the stand-in does not have.
 */
#include <dlfcn.h>
#include <stdio.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Barrier(int comm);
int MPI_Comm_rank(int comm, int* rank);

#ifdef PLUGIN
#define MAIN plugin_main
#else
#define MAIN main
#endif
int MAIN(int argc, char** argv);

int MAIN(int argc, char** argv) {
  const int calls_missing = argc > 1;
  int rank = -1;
  if (MPI_Init(&argc, &argv) != 0 || MPI_Comm_rank(7, &rank) != 0) return 1;
  for (int i = 0; i < 3; ++i) {
    if (MPI_Barrier(7) != 0) return 1;
  }
  if (calls_missing) {
    int (*scan)(void*, void*, int, int, int, int) =
        (int (*)(void*, void*, int, int, int, int))(size_t)dlsym(RTLD_DEFAULT, "MPI_Scan");
    return scan != NULL ? scan(NULL, NULL, 0, 0, 0, 7) : 2;
  }
  if (MPI_Finalize() != 0 || rank != 0) return 1;
  printf("done\n");
  return 0;
}
