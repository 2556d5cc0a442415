// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An asymmetric fence for a store-load handshake between a frequent side, which runs in every call,
// and a rare side, which runs once per program. Each side stores a flag and then loads the flag of
// the other; at least one of them must see the other's store. If the kernel supports membarrier(),
// the rare side executes the fences of both sides.
#pragma once

#include <atomic>
#include <cstdint>

namespace huddle::memory {

class OneSidedFence {
 public:
  // Threads on which the frequent side may run, and the duration of rare_side().
  enum class Among : std::uint8_t {
    threads,    // threads of this process; microseconds, the first time some milliseconds
    processes,  // processes on this machine; some milliseconds
  };

  // Returns whether the kernel can make all of these threads execute a fence (membarrier).
  static bool is_supported(Among among);

  // one_sided: the rare side executes both fences, which requires is_supported(); otherwise each
  // side executes its own. Both sides of a handshake must pass the same value.
  OneSidedFence(Among among, bool one_sided) : among_(among), one_sided_(one_sided) {}

  void frequent_side() const {
    if (one_sided_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  // Returns whether rare_side() still works. A sandbox that was entered in the meantime may forbid
  // membarrier().
  bool has_rare_side() const { return !one_sided_ || is_supported(among_); }
  // Requires: has_rare_side().
  void rare_side() const;

 private:
  Among among_;
  bool one_sided_;
};

}  // namespace huddle::memory
