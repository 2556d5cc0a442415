// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whether any library was loaded into this process since last time, by whomever and however, told
// by a load or two: the loader keeps a list of what is loaded, where what is new comes last. So a
// library of our own with nothing in it stands at its end, until something stands behind it.
#pragma once

#include <link.h>

#include <atomic>
#include <functional>
#include <string>

#include "runtime/memory/one_sided_fence.h"

namespace huddle::mpi {

class LibraryLoadMonitor {
 public:
  // Where a thread says that it looks at the end of the list right now, so that nobody takes it
  // away: in a place that it shares with nobody who looks at the same time.
  using Looking = std::atomic<bool>;

  // marker: the file of that library. Where it cannot be loaded there is always news.
  explicit LibraryLoadMonitor(std::string marker);
  ~LibraryLoadMonitor();
  LibraryLoadMonitor(const LibraryLoadMonitor&) = delete;
  LibraryLoadMonitor& operator=(const LibraryLoadMonitor&) = delete;

  // Also before the first catch_up().
  bool has_news(Looking& looking) const {
    looking.store(true, std::memory_order_relaxed);
    fence_.frequent_side();
    const link_map* const last = last_.load(std::memory_order_acquire);
    const bool has = last == nullptr || is_followed(*last);
    looking.store(false, std::memory_order_release);
    return has;
  }

  // What is loaded from here on is news. wait_for_lookers: returns when all who looked when it was
  // called have done so. pre: for one thread at a time, which does not look meanwhile.
  void catch_up(const std::function<void()>& wait_for_lookers);

 private:
  // The loader writes there, under a lock of its own.
  static bool is_followed(const link_map& library) {
    return __atomic_load_n(&library.l_next, __ATOMIC_RELAXED) != nullptr;
  }

  std::string marker_;
  memory::OneSidedFence fence_;
  void* handle_ = nullptr;
  bool is_missing_ = false;
  std::atomic<const link_map*> last_{nullptr};
};

}  // namespace huddle::mpi
