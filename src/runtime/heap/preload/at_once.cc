// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/preload/at_once.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "common/settings/settings.h"
#include "runtime/heap/preload/process_malloc.h"

namespace huddle::heap {
namespace {

std::string value_of(std::string_view key) {
  const auto table = settings::table();
  const auto setting = std::find_if(table.begin(), table.end(),
                                    [key](const settings::Setting& row) { return row.key == key; });
  const std::string name = settings::environment_name(key);
  const char* const said = std::getenv(name.c_str());
  if (said == nullptr) return std::string(setting->fallback);
  settings::check_value(*setting, said, name);
  return said;
}

}  // namespace

void start_at_once_if_asked() noexcept {
  const char* const asked = std::getenv("TEST_HUDDLE_HEAP");
  if (asked == nullptr || std::string_view(asked) != "at-once") return;
  try {
    const Wish wish = wish_from(value_of);
    const huddle_heap& heap = process_malloc.start(
        {version, wish.least_block_bytes, wish.cap_bytes, wish.most_copied_bytes, wish.checked});
    if (heap.refusal != nullptr) std::fprintf(stderr, "huddle: heap: %s\n", heap.refusal);
  } catch (const Error& error) {
    std::fprintf(stderr, "huddle: heap: %s\n", error.what());
  }
}

}  // namespace huddle::heap
