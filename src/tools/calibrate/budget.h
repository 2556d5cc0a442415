// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How long a measurement may take, and whether somebody asked to stop altogether.
#pragma once

#include <algorithm>
#include <atomic>

#include "tools/calibrate/clock.h"

namespace huddle::calibrate {

class Budget {
 public:
  // `stop` may be set by a signal handler at any time; it has to outlive the budget.
  Budget(double seconds, const std::atomic<bool>& stop)
      : Budget(now_ns() + seconds * ns_per_s, &stop) {}

  bool stopped() const { return stop_->load(std::memory_order_relaxed); }
  bool spent() const { return stopped() || now_ns() >= deadline_ns_; }
  double left_seconds() const { return std::max(0.0, (deadline_ns_ - now_ns()) / ns_per_s); }

  // As much from now on as if nothing had been used up, for whoever heeds the same request to stop.
  Budget renewed(double seconds) const { return {now_ns() + seconds * ns_per_s, stop_}; }

  // A part of what is left, never more than that.
  Budget slice(double seconds) const {
    return {std::min(deadline_ns_, now_ns() + seconds * ns_per_s), stop_};
  }

 private:
  Budget(double deadline_ns, const std::atomic<bool>* stop)
      : deadline_ns_(deadline_ns), stop_(stop) {}

  double deadline_ns_;
  const std::atomic<bool>* stop_;
};

}  // namespace huddle::calibrate
