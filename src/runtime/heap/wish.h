// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the settings say of the shared heap.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace huddle::heap {

struct Wish {
  std::size_t least_block_bytes = 0;  // what is smaller comes from elsewhere
  std::size_t cap_bytes = 0;
  std::size_t most_copied_bytes = 0;  // by a fork
  bool checked = false;               // it looks for errors
};

// value: of the setting with this key, as the table of settings takes it.
Wish wish_from(const std::function<std::string(std::string_view key)>& value);

}  // namespace huddle::heap
