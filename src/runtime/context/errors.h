// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Errors that a collective throws after it has started.
#pragma once

#include <string_view>

#include "common/error.h"

namespace huddle::context {

// A rank of the team has died or left the team. Thrown to end the waits of its peers.
class PeerLost : public FailureError {
 public:
  using FailureError::FailureError;
};

// A path to a peer's memory failed during a call. All ranks of the call throw this, so no rank
// returns a wrong result, but the output buffers may have been overwritten. All flags are
// consistent: the team can continue without that path. Not a FailureError, which is thrown before
// any data moves.
class PathFailed : public Error {
 public:
  explicit PathFailed(std::string_view message) noexcept : Error(ExitCode::failure, message) {}
};

// A block differs in size from what its receiver expects. Only the receiver throws this, and it
// does not get the block; all other ranks get their results. All flags are consistent: the team can
// continue. Not a UsageError, because those are thrown before any data has moved.
class SizesDiffer : public Error {
 public:
  explicit SizesDiffer(std::string_view message) noexcept : Error(ExitCode::usage, message) {}
};

// The ranks of a team made different collective calls, or passed different arguments where MPI
// requires equal ones: the program is erroneous. Thrown by each rank that detects this, before it
// uses the peer's data. The team is then unusable.
class CallsDiffer : public Error {
 public:
  // are_sizes: the calls differ only in their sizes.
  CallsDiffer(std::string_view message, bool are_sizes) noexcept
      : Error(ExitCode::usage, message), are_sizes_(are_sizes) {}
  bool are_sizes() const { return are_sizes_; }

 private:
  bool are_sizes_;
};

}  // namespace huddle::context
