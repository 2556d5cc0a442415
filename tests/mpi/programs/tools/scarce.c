/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Makes allocations of huddle fail on request, but not those of the program and the MPI.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void* __libc_malloc(size_t bytes);

/* The code of huddle's back end, which contains its operator new. */
static uintptr_t code_begin;
static uintptr_t code_end;

static _Thread_local long left = -1; /* allocations that succeed; -1: all do */
static _Thread_local long refused;

static int note_code(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size;
  (void)unused;
  if (strstr(info->dlpi_name, "huddle_openmpi") == NULL &&
      strstr(info->dlpi_name, "huddle_mpich") == NULL &&
      strstr(info->dlpi_name, "huddle_mpi_abi") == NULL) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD || (info->dlpi_phdr[i].p_flags & PF_X) == 0) continue;
    code_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    code_end = code_begin + info->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

/*
 * Lets the next `number` allocations of huddle on this thread succeed, and `of_those_refused` after
 * them fail; if `number` is negative, all succeed. Returns whether huddle is loaded.
 */
int scarce_allow(long number, long of_those_refused) {
  if (code_end == 0) dl_iterate_phdr(note_code, NULL);
  left = number;
  refused = of_those_refused;
  return code_end != 0;
}

static int is_huddle(void* caller) {
  const uintptr_t address = (uintptr_t)caller;
  return address >= code_begin && address < code_end;
}

void* malloc(size_t bytes) {
  if (left < 0 || !is_huddle(__builtin_return_address(0))) return __libc_malloc(bytes);
  if (left > 0) {
    --left;
    return __libc_malloc(bytes);
  }
  if (--refused <= 0) left = -1;
  errno = ENOMEM;
  return NULL;
}
