// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A mutex that a thread may hold while it forks, and then knows by that it does: others' handlers
// of the same fork may want what it guards.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "runtime/memory/spin.h"

namespace huddle::memory {

class ForkMutex {
 public:
  // What it guards takes less time than to fall asleep and be woken.
  void lock() {
    for (int tries = 0; tries < 100; ++tries) {
      if (mutex_.try_lock()) return;
      spin_pause();
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

  void lock_for_fork() {
    mutex_.lock();
    forking_.store(pthread_self(), std::memory_order_relaxed);
  }
  // In the parent, and in the child.
  void unlock_after_fork() {
    forking_.store(nobody, std::memory_order_relaxed);
    mutex_.unlock();
  }
  // Whether it is the calling thread that forks, in the parent or as the child's only one. No other
  // thread ever stores its name, so that no order is needed.
  bool is_forking_here() const {
    return forking_.load(std::memory_order_relaxed) == pthread_self();
  }

 private:
  static constexpr pthread_t nobody{};

  std::mutex mutex_;
  std::atomic<pthread_t> forking_{nobody};
};

}  // namespace huddle::memory
