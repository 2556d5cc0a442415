// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "heap/preload/obstacle.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"

namespace huddle::heap {
namespace {

// The names by which one finds that they are there.
constexpr std::array<std::pair<const char*, const char*>, 5> sanitizers = {
    {{"__asan_init", "AddressSanitizer"},
     {"__hwasan_init", "HWAddressSanitizer"},
     {"__lsan_init", "LeakSanitizer"},
     {"__msan_init", "MemorySanitizer"},
     {"__tsan_init", "ThreadSanitizer"}}};

const void* library_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
}

}  // namespace

void throw_if_in_the_way() {
  for (const auto& [name, title] : sanitizers) {
    if (dlsym(RTLD_DEFAULT, name) == nullptr) continue;
    throw FailureError(fmt::format("{} keeps books of all memory; there is no shared heap", title));
  }
  static const char here = 0;
  if (library_of(dlsym(RTLD_DEFAULT, "malloc")) != library_of(&here)) {
    throw FailureError("the program has a malloc of its own; there is no shared heap");
  }
}

}  // namespace huddle::heap
