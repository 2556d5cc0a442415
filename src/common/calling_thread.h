// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers for code that runs on threads of the application.
#pragma once

#include <cxxabi.h>
#include <pthread.h>
#include <csignal>

namespace huddle {

// Blocks all signals in the calling thread, and in threads that it starts, during its lifetime. It
// leaves the application's signals to the application's own threads.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

// Cancellation of a thread and pthread_exit() unwind the stack as an exception does. A handler that
// catches everything must rethrow it; otherwise the process is terminated.
#if defined(__GLIBCXX__)
using ThreadEnd = abi::__forced_unwind;
#else
class ThreadEnd {};  // this library has no type for it, so it is never caught
#endif

}  // namespace huddle
