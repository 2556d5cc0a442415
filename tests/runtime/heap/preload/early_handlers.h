// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A library that registers fork handlers when it is loaded, as libraries of MPIs do.
#pragma once

#include <cstddef>

namespace huddle::heap {

// Sets the block that the handler in a child fills with the value 2; null: none.
void watch_in_fork_handlers(void* block, std::size_t bytes);

}  // namespace huddle::heap
