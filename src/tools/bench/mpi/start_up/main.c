/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * huddle-start-up [LIBRARIES]: a program without work of its own, whose run takes only the time of
 * start and end. With LIBRARIES, file names for the loader that are separated by colons, it also
 * begins and ends the MPI in the first one that can be opened. `huddle run --compare` runs it in
 * place of the user's program. It needs no description of an ABI: MPI_Init(NULL, NULL) and
 * MPI_Finalize() have the same form in all of them.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int init_function(int*, char***);
typedef int finalize_function(void);

/* The functions are looked up in the global order, in which a preloaded library precedes the MPI.
 */
static void* global_function(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  if (function == NULL) fprintf(stderr, "huddle-start-up: the library has no %s\n", name);
  return function;
}

static int open_first_of(char* names) {
  char* rest = names;
  for (char* name = strtok_r(names, ":", &rest); name != NULL; name = strtok_r(NULL, ":", &rest)) {
    if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != NULL) return 1;
  }
  fprintf(stderr, "huddle-start-up: no MPI library can be opened\n");
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return EXIT_SUCCESS;
  if (!open_first_of(argv[1])) return EXIT_FAILURE;
  init_function* init = (init_function*)(size_t)global_function("MPI_Init");
  finalize_function* finalize = (finalize_function*)(size_t)global_function("MPI_Finalize");
  if (init == NULL || finalize == NULL) return EXIT_FAILURE;
  if (init(NULL, NULL) != 0 || finalize() != 0) return EXIT_FAILURE;
  return EXIT_SUCCESS;
}
