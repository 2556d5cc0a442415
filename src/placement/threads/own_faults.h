// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The mechanisms tried on this process itself: do they have an effect here, and what does a fault
// cost? A call that succeeds says little: some do nothing in kernels that were built without them.
#pragma once

#include <string>

#include "placement/threads/page_fault.h"

namespace huddle::threads {

struct Trial {
  bool works = false;
  std::string why_not = {};  // a sentence
  double fault_s = 0;        // a write to a protected page costs that much more, watched
};

// Page faults are seen with thread and address.
Trial try_page_faults(Observer observer = Observer::perf);
// Protected pages are unprotected by the kernel when they are written to, and that is seen.
Trial try_protection();
// The kernel notes which pages are written to after it was told to forget that.
Trial try_soft_dirty();

}  // namespace huddle::threads
