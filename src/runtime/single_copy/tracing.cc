// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/tracing.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <cerrno>

#include "common/error.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::single_copy {

// 0 allows what the kernel allows without it; 2 and 3 take the word of administrators or of nobody.
bool yama_asks(const System& system) {
  constexpr long long restricted = 1;
  return system.number("/proc/sys/kernel/yama/ptrace_scope") == restricted;
}

TracingPermit::TracingPermit() {
  if (prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0) return;
  throw FailureError(
      fmt::format("cannot let other ranks read this process's memory: {}", text_of(errno)));
}

TracingPermit::~TracingPermit() { prctl(PR_SET_PTRACER, 0, 0, 0, 0); }

void TracingPermits::take() {
  const std::scoped_lock lock(mutex_);
  if (taken_ == 0) permit_.emplace();
  ++taken_;
}

void TracingPermits::give_back() {
  const std::scoped_lock lock(mutex_);
  if (--taken_ == 0) permit_.reset();
}

}  // namespace huddle::single_copy
