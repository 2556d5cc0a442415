// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the settings say of the shared heap.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/system.h"

namespace huddle::heap {

struct Wish {
  std::size_t least_block_bytes = 0;  // what is smaller comes from elsewhere
  std::size_t cap_bytes = 0;
  std::size_t most_copied_bytes = 0;  // by a fork
};

// value: of the setting with this key, as the table of settings takes it.
Wish wish_from(const std::function<std::string(std::string_view key)>& value);

// Whether there is to be a heap: what HUDDLE_HEAP says and, where it leaves that open, whether the
// system has huge pages for it. With small ones a program that leaps about in its memory would pay.
bool is_wanted(std::string_view on_off_or_auto, const System& system);

}  // namespace huddle::heap
