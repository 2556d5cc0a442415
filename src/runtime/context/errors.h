// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string_view>

#include "common/error.h"

namespace huddle::context {

// A rank of the team is gone: whoever waits stops waiting.
class PeerLost : public FailureError {
 public:
  using FailureError::FailureError;
};

// A path into a peer's memory stopped working in the middle of a call. All ranks of the call throw
// it, so none has a result that could be wrong, though what it would have replaced may be gone.
// Every flag stands where it has to: the team can go on without that path.

// No FailureError: those are thrown before anything has moved.
class PathFailed : public Error {
 public:
  explicit PathFailed(std::string_view message) noexcept : Error(ExitCode::failure, message) {}
};

// What came for a rank is larger or smaller than its caller says. Only that rank throws it, and has
// nothing of that block; all others have what they wanted. Every flag stands where it has to: the
// team can go on. No UsageError: those are thrown before anything has moved.
class SizesDiffer : public Error {
 public:
  explicit SizesDiffer(std::string_view message) noexcept : Error(ExitCode::usage, message) {}
};

// Ranks of a team made different collective calls, or the same one with arguments that differ where
// they have to be equal: the program is erroneous. Thrown before anything of the peer's data is
// used, by each rank that notices. The team cannot be used any more.
class CallsDiffer : public Error {
 public:
  // are_sizes: the calls differ in their sizes alone.
  CallsDiffer(std::string_view message, bool are_sizes) noexcept
      : Error(ExitCode::usage, message), are_sizes_(are_sizes) {}
  bool are_sizes() const { return are_sizes_; }

 private:
  bool are_sizes_;
};

}  // namespace huddle::context
