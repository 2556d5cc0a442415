// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/wish.h"

#include "common/text.h"

namespace huddle::heap {

Wish wish_from(const std::function<std::string(std::string_view key)>& value) {
  const auto bytes = [&value](std::string_view key) { return size_from(value(key)).value_or(0); };
  return {.least_block_bytes = bytes("heap-block"),
          .cap_bytes = bytes("heap-cap"),
          .most_copied_bytes = bytes("heap-fork"),
          .checked = value("heap") == "check"};
}

}  // namespace huddle::heap
