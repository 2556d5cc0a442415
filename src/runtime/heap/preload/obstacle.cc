// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/preload/obstacle.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <utility>

#include "common/error.h"

namespace huddle::heap {
namespace {

// The names by which one finds that they are there.
constexpr std::array<std::pair<const char*, const char*>, 5> sanitizers = {
    {{"__asan_init", "AddressSanitizer"},
     {"__hwasan_init", "HWAddressSanitizer"},
     {"__lsan_init", "LeakSanitizer"},
     {"__msan_init", "MemorySanitizer"},
     {"__tsan_init", "ThreadSanitizer"}}};

const link_map* library_of(const void* address) {
  Dl_info info{};
  void* library = nullptr;
  return dladdr1(address, &info, &library, RTLD_DL_LINKMAP) == 0
             ? nullptr
             : static_cast<const link_map*>(library);
}

// A program for a fixed address (as many a Python is) that takes a function's address has an entry
// that leads there, and that entry's address is what everybody is told.
bool only_leads_there(const void* address) {
  Dl_info info{};
  void* found = nullptr;
  if (dladdr1(address, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return false;
  return static_cast<const ElfW(Sym)*>(found)->st_shndx == SHN_UNDEF;
}

bool defines_malloc(const link_map& library) {
  void* const opened = dlopen(library.l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (opened == nullptr) return false;
  // What it does not define is looked for in the libraries that it needs.
  const void* const found = dlsym(opened, "malloc");
  dlclose(opened);
  return library_of(found) == &library;
}

// Whose malloc the program calls.
const link_map* library_of_malloc() {
  const void* const told = dlsym(RTLD_DEFAULT, "malloc");
  const link_map* library = library_of(told);
  if (!only_leads_there(told)) return library;
  // Libraries stand in the order in which they are searched.
  do library = library->l_next;
  while (library != nullptr && !defines_malloc(*library));
  return library;
}

}  // namespace

void throw_if_in_the_way() {
  for (const auto& [name, title] : sanitizers) {
    if (dlsym(RTLD_DEFAULT, name) == nullptr) continue;
    throw FailureError(fmt::format("{} keeps books of all memory; there is no shared heap", title));
  }
  static const char here = 0;
  if (library_of_malloc() != library_of(&here)) {
    throw FailureError("the program has a malloc of its own; there is no shared heap");
  }
}

}  // namespace huddle::heap
