/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "routes.h"

/* Makes the pages of a symbol writable, and all pages between them and those that are writable
 * already. The symbol table is in a private, file-backed segment that contains no code (see the
 * link options), so it can be writable for a moment. */
static int open_pages(struct huddle_open_pages* open, const ElfW(Sym) * symbol) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = (uintptr_t)symbol & ~(page - 1);
  uintptr_t end = ((uintptr_t)(symbol + 1) + page - 1) & ~(page - 1);
  if (open->first <= first && end <= open->end) return 0;
  if (open->end != 0 && open->first < first) first = open->first;
  if (open->end > end) end = open->end;
  if (mprotect((void*)first, end - first, PROT_READ | PROT_WRITE) != 0) return -1;
  *open = (struct huddle_open_pages){first, end};
  return 0;
}

void huddle_hide(struct huddle_open_pages* open, void (*function)(void)) {
  Dl_info info;
  ElfW(Sym)* symbol = NULL;
  if (dladdr1((void*)(uintptr_t)function, &info, (void**)&symbol, RTLD_DL_SYMENT) == 0) return;
  if (symbol == NULL || open_pages(open, symbol) != 0) return;
  symbol->st_shndx = SHN_UNDEF;
  symbol->st_value = 0;
}

void huddle_end_hiding(const struct huddle_open_pages* open) {
  if (open->end != 0) mprotect((void*)open->first, open->end - open->first, PROT_READ);
}

static struct huddle_mpi mpi;

static void* real(const char* name) { return huddle_find_in_mpi(&mpi, name); }

int huddle_is_reporting_rank(void) {
  static const char* const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                      "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; ++i) {
    const char* rank = getenv(ranks[i]);
    if (rank != NULL) return strcmp(rank, "0") == 0;
  }
  return 1;
}

int huddle_setting_equals(const char* variable, const char* in_words, const char* in_numbers) {
  const char* value = getenv(variable);
  return value != NULL && (strcmp(value, in_words) == 0 || strcmp(value, in_numbers) == 0);
}

static void say(const struct huddle_library* library, const char* what, const char* more) {
  if (huddle_is_reporting_rank())
    fprintf(stderr, "huddle: %s%s; %s\n", what, more, library->without);
}

/* Opens a back end from the directory of this library. */
static void* open_back_end(const char* name) {
  Dl_info self;
  if (dladdr((void*)&mpi, &self) == 0) return NULL;
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - self.dli_fname) + 1;
  char path[4096];
  const int length = snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, name);
  if (length < 0 || (size_t)length >= sizeof path) return NULL;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void* entered_back_end(const struct huddle_library* library) {
  if (!library->is_wanted()) return NULL;
  const char* name = library->back_ends[mpi.abi];
  if (name == NULL) {
    say(library, "huddle does not support this MPI: ", mpi.path);
    return NULL;
  }
  void* back_end = open_back_end(name);
  if (back_end == NULL) {
    say(library, "cannot load the library for this MPI: ", dlerror());
    return NULL;
  }
  huddle_back_end_init_function* enter =
      (huddle_back_end_init_function*)(size_t)dlsym(back_end, HUDDLE_BACK_END_INIT_NAME);
  static struct huddle_stub_interface stub;
  stub = (struct huddle_stub_interface){real, mpi.path, library->fallbacks, library->call_count};
  return enter != NULL && enter(&stub) == 0 ? back_end : NULL;
}

static huddle_any_function* as_function(void* symbol) {
  return (huddle_any_function*)(size_t)symbol;
}

static void route_call(const char* name, struct huddle_route* route, void* back_end,
                       int with_tools) {
  char profiling_name[64] = "P";
  strncat(profiling_name, name, sizeof profiling_name - 2);
  route->real = as_function(real(profiling_name));
  if (with_tools) route->tool = as_function(huddle_find_tool(&mpi, name));
  huddle_any_function* const taken = back_end != NULL ? as_function(dlsym(back_end, name)) : NULL;
  huddle_any_function* const first = route->tool != NULL ? route->tool : taken;
  /* Last, because other threads use these as soon as they are set. */
  __atomic_store_n(&route->taken, taken, __ATOMIC_RELEASE);
  __atomic_store_n(&route->first, first, __ATOMIC_RELEASE);
}

/* Routes the calls to a library that defines MPI_X but no PMPI_X, without a back end: back ends
 * call PMPI_X. Calls that the library lacks get no route, and abort when the program makes them. */
static void route_to_stand_in(const struct huddle_library* library) {
  Dl_info stand_in = {.dli_fname = NULL};
  for (size_t call = 0; call < library->call_count; ++call) {
    void* const symbol = huddle_find_in_stand_in(library->fallbacks[call].name);
    if (symbol == NULL) continue;
    struct huddle_route* route = &library->routes[call];
    route->tool = as_function(symbol);
    __atomic_store_n(&route->first, route->tool, __ATOMIC_RELEASE);
    if (stand_in.dli_fname == NULL) dladdr(symbol, &stand_in);
  }
  if (stand_in.dli_fname == NULL) {
    fprintf(stderr, "huddle: MPI was called, but no MPI is loaded in this process\n");
    abort();
  }
  if (library->is_wanted()) {
    say(library, "the MPI has no functions PMPI_*, which huddle requires: ", stand_in.dli_fname);
  }
}

void* huddle_route_all(const struct huddle_library* library) {
  mpi = huddle_find_mpi();
  if (mpi.handle == NULL) {
    route_to_stand_in(library);
    return NULL;
  }
  void* back_end = entered_back_end(library);
  /* Tools can only be in the global search order; they cannot precede a privately loaded MPI. */
  const int with_tools = dlsym(RTLD_NEXT, "PMPI_Comm_rank") != NULL;
  for (size_t call = 0; call < library->call_count; ++call) {
    route_call(library->fallbacks[call].name, &library->routes[call], back_end, with_tools);
  }
  return back_end;
}

huddle_any_function* huddle_insist(huddle_any_function* function, const char* name) {
  if (function != NULL) return function;
  fprintf(stderr,
          "huddle: the MPI in this process has no %s, which the program calls; run the program "
          "without huddle (HUDDLE=off does not help)\n",
          name);
  abort();
}

int huddle_hides_new_names(void) {
  const int is_linked = dlsym(RTLD_NEXT, "PMPI_Comm_rank") != NULL;
  return is_linked || getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMI_RANK") == NULL;
}

int huddle_is_hidden(const char* profiling_name) {
  return dlsym(RTLD_NEXT, "PMPI_Comm_rank") == NULL || dlsym(RTLD_NEXT, profiling_name) == NULL;
}
