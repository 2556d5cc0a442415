// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// No signal is delivered to this thread, nor to those that it starts, while one of these lives: the
// program's signals are for its own threads.
#pragma once

#include <pthread.h>

#include <csignal>

namespace huddle {

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

}  // namespace huddle
