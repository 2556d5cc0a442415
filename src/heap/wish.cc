// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "heap/wish.h"

#include "base/huge_pages.h"
#include "base/text.h"

namespace huddle::heap {

Wish wish_from(const std::function<std::string(std::string_view key)>& value) {
  const auto bytes = [&value](std::string_view key) { return size_from(value(key)).value_or(0); };
  return {.least_block_bytes = bytes("heap-block"),
          .cap_bytes = bytes("heap-cap"),
          .most_copied_bytes = bytes("heap-fork")};
}

bool is_wanted(std::string_view on_off_or_auto, const System& system) {
  if (on_off_or_auto != "auto") return on_off_or_auto == "on";
  return may_share_huge_pages(system);
}

}  // namespace huddle::heap
