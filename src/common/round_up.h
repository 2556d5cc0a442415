// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cstddef>

namespace huddle {

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace huddle
