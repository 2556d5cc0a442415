// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Divides the time that a rank spends in a collective call into waiting for ranks that entered
// later, which no implementation can save, and transfer.
#pragma once

#include <algorithm>

#include "runtime/select/operation.h"

namespace huddle::select {

// The interval of one rank's call, by the clock of its node.
struct CallTimes {
  double enter_ns = 0;
  double leave_ns = 0;
  bool is_root = false;

  double ns() const { return leave_ns - enter_ns; }
};

// The times at which ranks entered a call.
class EntryTimes {
 public:
  void add(const CallTimes& call) {
    last_ns_ = std::max(last_ns_, call.enter_ns);
    if (call.is_root) root_ns_ = call.enter_ns;
  }
  // Returns how long a rank waited for others. A rank that left before the last one had entered did
  // not need that rank: in a broadcast or a scatter it may have waited for the root.
  // Requires: add() was called for every rank.
  double waiting_ns(Operation operation, const CallTimes& own) const {
    if (own.leave_ns >= last_ns_) return last_ns_ - own.enter_ns;
    const bool gets_from_root = operation == Operation::bcast || scatters_from_root(operation);
    return gets_from_root ? std::clamp(root_ns_ - own.enter_ns, 0.0, own.ns()) : 0;
  }

 private:
  double last_ns_ = 0;
  double root_ns_ = 0;  // if there is one
};

}  // namespace huddle::select
