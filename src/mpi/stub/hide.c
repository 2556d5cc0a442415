/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright the huddle contributors */
#include "hide.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The symbols lie in this process's private copy of a segment that holds no code (see the link
 * options), so that it may be written for a moment. An entry may lie on two pages. */
static int make_symbol(const ElfW(Sym) * symbol, int protection) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = (uintptr_t)symbol & ~(page - 1);
  const uintptr_t end = (uintptr_t)(symbol + 1);
  return mprotect((void*)first, end - first, protection);
}

void huddle_hide(void (*function)(void)) {
  Dl_info info;
  ElfW(Sym)* symbol = NULL;
  if (dladdr1((void*)(uintptr_t)function, &info, (void**)&symbol, RTLD_DL_SYMENT) == 0) return;
  if (symbol == NULL || make_symbol(symbol, PROT_READ | PROT_WRITE) != 0) return;
  symbol->st_shndx = SHN_UNDEF;
  symbol->st_value = 0;
  make_symbol(symbol, PROT_READ);
}
