// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include "runtime/node/locality.h"

namespace huddle::node::test {

inline constexpr Shape flat{Shape::Kind::flat, 1};
inline constexpr Shape chain{Shape::Kind::chain, 1};
inline constexpr Shape binary{Shape::Kind::kary, 2};

}  // namespace huddle::node::test
