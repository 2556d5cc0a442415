// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A fence for two sides of which one comes by at every call and the other once in a program: each
// stores first and then loads what the other stores, and one of them at least has to see it. The
// rare side pays for both, where the kernel lets it.
#pragma once

#include <atomic>
#include <cstdint>

namespace huddle::memory {

class OneSidedFence {
 public:
  // Where the frequent side may run.
  enum class Among : std::uint8_t {
    threads,    // of this process: microseconds, but some milliseconds the first time
    processes,  // of this machine: some milliseconds
  };

  // Whether the kernel makes all of them pass a fence when one asks for it.
  static bool is_to_be_had(Among among);

  // Not one-sided: each side passes its own. All who use a fence together use the same kind.
  OneSidedFence(Among among, bool one_sided) : among_(among), one_sided_(one_sided) {}

  void frequent_side() const {
    if (one_sided_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
  }
  // Whether what it takes is still to be had: a sandbox may have come up.
  bool has_rare_side() const { return !one_sided_ || is_to_be_had(among_); }
  // pre: it has one.
  void rare_side() const;

 private:
  Among among_;
  bool one_sided_;
};

}  // namespace huddle::memory
