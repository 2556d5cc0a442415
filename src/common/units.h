// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cstddef>

namespace huddle {

inline constexpr double ns_per_s = 1e9;

inline constexpr std::size_t KiB = 1024;
inline constexpr std::size_t MiB = 1024 * KiB;

}  // namespace huddle
