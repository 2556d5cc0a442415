// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which options of a launcher take words after them, so that the program behind them can be found.
#pragma once

#include <string_view>

#include "tools/launch/launcher.h"

namespace huddle::launch {

// How many words the option takes after itself; 0 for one that is not known, or holds its value.
std::size_t words_taken(Passing launcher, std::string_view option);

}  // namespace huddle::launch
