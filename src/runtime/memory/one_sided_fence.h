// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A fence for a store-load handshake between a side that runs at every call and one that runs once
// per program. Each side stores and then loads what the other stores, and at least one of them must
// see the other's store. If the kernel supports it, the rare side pays for both fences.
#pragma once

#include <atomic>
#include <cstdint>

namespace huddle::memory {

class OneSidedFence {
 public:
  // The threads that the frequent side may run on.
  enum class Among : std::uint8_t {
    threads,    // of this process: takes microseconds, but some milliseconds the first time
    processes,  // of this machine: takes some milliseconds
  };

  // Returns whether the kernel can make all of these threads execute a fence (membarrier).
  static bool is_supported(Among among);

  // one_sided: if false, each side executes its own fence. All users of one handshake must agree.
  OneSidedFence(Among among, bool one_sided) : among_(among), one_sided_(one_sided) {}

  void frequent_side() const {
    if (one_sided_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  // Returns whether rare_side() still works: a sandbox may have been entered since.
  bool has_rare_side() const { return !one_sided_ || is_supported(among_); }
  // Requires: has_rare_side().
  void rare_side() const;

 private:
  Among among_;
  bool one_sided_;
};

}  // namespace huddle::memory
