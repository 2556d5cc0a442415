// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers for code that runs on threads of the application.
#pragma once

#include <cxxabi.h>
#include <pthread.h>
#include <csignal>

namespace huddle {

// Blocks all signals in the calling thread, and in threads that it starts, during its lifetime, so
// that the application's own threads handle the application's signals.
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

// libstdc++'s name of the exception by which glibc unwinds a stack on thread cancellation and
// pthread_exit(). A handler that catches everything must rethrow it; otherwise the process is
// terminated.
#if defined(__GLIBCXX__)
using ThreadEnd = abi::__forced_unwind;
#else
class ThreadEnd {};  // other standard libraries have no such type
#endif

}  // namespace huddle
