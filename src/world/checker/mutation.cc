// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "world/checker/mutation.h"

#include <fmt/format.h>

#include "world/checker/text.h"

namespace huddle::world::checker {

std::string text_of(const Mutation& mutation) {
  return fmt::format("{}: {}", name(mutation.fault), text_of(mutation.site));
}

}  // namespace huddle::world::checker
