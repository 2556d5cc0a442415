// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/node/agreement.h"

namespace huddle::node {

SmallAllgather::SmallAllgather(std::size_t most_bytes, context::Sequence start)
    : stride_(slot_bytes(most_bytes)), call_(start) {}

}  // namespace huddle::node
