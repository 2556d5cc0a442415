// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/mutation.h"

#include <fmt/format.h>

#include "check/checker/text.h"

namespace huddle::verify::checker {

std::string text_of(const Mutation& mutation) {
  return fmt::format("{}: {}", name(mutation.fault), text_of(mutation.site));
}

}  // namespace huddle::verify::checker
