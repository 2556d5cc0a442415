/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
/*
 * Memory that huddle gets none of when a program wants it so. Whoever else of the process asks, the
 * program and the MPI, gets what it asks for.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void* __libc_malloc(size_t bytes);

/* The code of huddle's back end, which has its operator new in itself. */
static uintptr_t code_begin;
static uintptr_t code_end;

static _Thread_local long left = -1; /* allocations that go well; -1: all do */
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
 * So many allocations of huddle's on this thread go well from now on, so many behind them do not;
 * a negative number: all do. Whether huddle is there.
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
