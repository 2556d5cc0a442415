// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Words as a POSIX shell reads them.
#pragma once

#include <string>
#include <string_view>

namespace huddle::launch {

// The word as it is where a shell takes it for one word, else between single quotes.
std::string shell_quoted(std::string_view word);

}  // namespace huddle::launch
