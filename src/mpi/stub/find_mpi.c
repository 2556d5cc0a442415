/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
#include "routes.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* A function that every MPI defines and no profiling tool does: tools define MPI_X and call
 * PMPI_X. */
static const char probe[] = "PMPI_Comm_rank";

static const char* file_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

static int names_an_mpi(const char* path) {
  const char* slash = strrchr(path, '/');
  return strncmp(slash != NULL ? slash + 1 : path, "libmpi", strlen("libmpi")) == 0;
}

/* The MPI and its companion libraries, such as language bindings. */
enum { most_candidates = 64 };
struct candidates {
  const char* paths[most_candidates]; /* owned by the loader */
  size_t count;
};

static int collect(struct dl_phdr_info* object, size_t size, void* arg) {
  (void)size;
  struct candidates* candidates = arg;
  if (candidates->count < most_candidates && names_an_mpi(object->dlpi_name)) {
    candidates->paths[candidates->count++] = object->dlpi_name;
  }
  return 0;
}

/* Returns the symbol of a loaded library or of those that it depends on, or null. */
static void* symbol_behind(const char* path, const char* name) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == NULL) return NULL;
  void* symbol = dlsym(handle, name);
  dlclose(handle);
  return symbol;
}

/* Searches all loaded libraries for a symbol of an MPI that an interpreter has loaded with
 * RTLD_LOCAL. No library may be opened during dl_iterate_phdr(), so the candidates are examined
 * after it. */
static void* symbol_of_private_mpi(const char* name) {
  struct candidates candidates = {{NULL}, 0};
  dl_iterate_phdr(collect, &candidates);
  void* symbol = NULL;
  for (size_t i = 0; symbol == NULL && i < candidates.count; ++i) {
    symbol = symbol_behind(candidates.paths[i], name);
  }
  return symbol;
}

/* Returns a symbol in the search order, else one of a private MPI, or null. */
static void* symbol_of_any_mpi(const char* name) {
  void* in_search_order = dlsym(RTLD_NEXT, name);
  return in_search_order != NULL ? in_search_order : symbol_of_private_mpi(name);
}

/* Detects the ABI by symbols that only one family exports. Open MPI exports predefined
 * communicators as objects. MPICH exports MPI_UNWEIGHTED, which is an integer constant in the
 * standard ABI. MPItrampoline exports all constants. */
static enum huddle_abi abi_of(void* handle) {
  if (dlsym(handle, "ompi_mpi_comm_world") != NULL) return huddle_abi_openmpi;
  if (dlsym(handle, "MPI_COMM_WORLD") != NULL) return huddle_abi_unknown;
  if (dlsym(handle, "MPI_UNWEIGHTED") != NULL) return huddle_abi_mpich;
  if (dlsym(handle, "MPI_Abi_get_version") != NULL) return huddle_abi_standard;
  return huddle_abi_unknown;
}

struct huddle_mpi huddle_find_mpi(void) {
  struct huddle_mpi mpi = {NULL, NULL, huddle_abi_unknown};
  const void* function = symbol_of_any_mpi(probe);
  const char* path = function != NULL ? file_of(function) : NULL;
  if (path == NULL) return mpi;
  mpi.path = strdup(path);
  if (mpi.path != NULL) mpi.handle = dlopen(mpi.path, RTLD_LAZY | RTLD_NOLOAD);
  if (mpi.handle != NULL) mpi.abi = abi_of(mpi.handle);
  return mpi;
}

void* huddle_find_in_stand_in(const char* name) { return symbol_of_any_mpi(name); }

void* huddle_find_in_mpi(const struct huddle_mpi* mpi, const char* name) {
  return dlsym(mpi->handle, name);
}

/* Tools precede the MPI in the search order; without a tool, the next MPI_X is the MPI's own. */
void* huddle_find_tool(const struct huddle_mpi* mpi, const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  return next == dlsym(mpi->handle, name) ? NULL : next;
}
