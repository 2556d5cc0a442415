// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/back_end/book.h"

namespace huddle::profile {

Flow* Book::flow(std::int32_t from, std::int32_t to, FlowKind kind) {
  if (phase_ == 0) return &nobody_;
  Flow*& known = flows_[{from, to, phase_, kind}];
  if (known == nullptr) known = part_.add({.from = from, .to = to, .phase = phase_, .kind = kind});
  return known != nullptr ? known : &nobody_;
}

}  // namespace huddle::profile
