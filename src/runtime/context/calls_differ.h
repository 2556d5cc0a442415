// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks of a team made different collective calls, or the same one with arguments that differ where
// they have to be equal: the program is erroneous. Thrown before anything of the peer's data is
// used, by each rank that notices. The team cannot be used any more.
#pragma once

#include <string_view>

#include "common/error.h"

namespace huddle::world {

class CallsDiffer : public Error {
 public:
  // are_sizes: the calls differ in their sizes alone.
  CallsDiffer(std::string_view message, bool are_sizes) noexcept
      : Error(ExitCode::usage, message), are_sizes_(are_sizes) {}
  bool are_sizes() const { return are_sizes_; }

 private:
  bool are_sizes_;
};

}  // namespace huddle::world
