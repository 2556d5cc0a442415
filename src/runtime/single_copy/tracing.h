// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Yama, a security module of the kernel, lets a process be read by its ancestors only, unless it
// says otherwise itself (PR_SET_PTRACER).
#pragma once

#include <mutex>
#include <optional>

#include "common/system.h"

namespace huddle::single_copy {

// Whether Yama asks each process for its word: not where it is off, and not where it takes none.
bool yama_asks(const System& system);

// Lets the processes of this user read this one, for as long as this object lives. The ranks of a
// job have one launcher among their ancestors, but it may be any of these, with shells between; so
// nobody in particular is named, and it is with Yama as without it: the user's other processes may.
//
// A process has one such word, and none can ask what it was: whoever gave it for a reason of its
// own, such as a crash reporter, has lost it once this goes.
class TracingPermit {
 public:
  // Throws FailureError where the system does not take it.
  TracingPermit();
  ~TracingPermit();
  TracingPermit(const TracingPermit&) = delete;
  TracingPermit& operator=(const TracingPermit&) = delete;
};

// How many need the permit: it is there from the first to the last of them.
class TracingPermits {
 public:
  // Throws FailureError.
  void take();
  // pre: taken once more than given back.
  void give_back();

 private:
  std::mutex mutex_;
  int taken_ = 0;
  std::optional<TracingPermit> permit_;
};

}  // namespace huddle::single_copy
