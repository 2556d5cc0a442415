// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cxxabi.h>
#include <pthread.h>
#include <csignal>

namespace huddle {

// No signal is delivered to this thread, nor to those that it starts, while one of these lives: the
// program's signals are for its own threads.
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

// A thread that is cancelled, or that calls pthread_exit, unwinds its stack as an exception does.
// Whoever catches everything has to pass that on: the process is ended otherwise.
#if defined(__GLIBCXX__)
using ThreadEnd = abi::__forced_unwind;
#else
class ThreadEnd {};  // not known as a type, so never caught
#endif

}  // namespace huddle
