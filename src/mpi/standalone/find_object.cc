// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// libgcc, which huddle's files contain, finds the data for exceptions by _dl_find_object(), which
// is new in glibc 2.35. With this substitute the files also run with glibc 2.34, for example on
// RHEL 9.
#include "mpi/standalone/find_object.h"

#include <link.h>
#include <cstdint>

#ifdef HUDDLE_FIND_OBJECT
namespace huddle {
namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* result;
};

bool contains(const dl_phdr_info& object, const ElfW(Phdr) & segment, std::uintptr_t address) {
  const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
  return address >= begin && address - begin < segment.p_memsz;
}

// Fills in what libgcc reads.
int check_object(dl_phdr_info* object, std::size_t /*bytes*/, void* data) {
  const auto& search = *static_cast<Search*>(data);
  bool is_it = false;
  std::uintptr_t exception_data = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) is_it = is_it || contains(*object, segment, search.address);
    if (segment.p_type == PT_GNU_EH_FRAME) exception_data = object->dlpi_addr + segment.p_vaddr;
  }
  if (!is_it || exception_data == 0) return 0;
  *search.result = {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the linker's headers have addresses as numbers
  search.result->dlfo_eh_frame = reinterpret_cast<void*>(exception_data);
  return 1;
}

}  // namespace

int find_object(void* address, dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(check_object, &search) == 1 ? 0 : -1;
}

}  // namespace huddle

namespace {

// A newer glibc's own function needs no lock. It is looked up while this file is loaded, because
// that takes the linker's lock, and exceptions may be thrown while others are held.
const auto function_of_glibc =
    reinterpret_cast<huddle::FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));

}  // namespace

extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(
    void* address, dl_find_object* result) noexcept {
  return function_of_glibc != nullptr ? function_of_glibc(address, result)
                                      : huddle::find_object(address, result);
}
#endif
