// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What keeps the MPI moving while a rank waits in huddle: whoever asks after a request that is not
// at its end makes all of the MPI's progress, and a request of the program's own kind is at its end
// only when the program says so. It needs no communicator, and so nobody else to take part.
#pragma once

#include <atomic>
#include <mutex>

#include "mpi/back_end/real.h"

namespace huddle::mpi {

class MpiProgress {
 public:
  explicit MpiProgress(const Real& real) : real_(real) {}

  // Several threads may; again: nothing. Whether it is there.
  bool start();
  bool is_available() const { return is_available_.load(std::memory_order_relaxed); }
  // Nothing where it is not there.
  void poll() const;
  // Before the MPI goes down. pre: nobody asks.
  void stop();

 private:
  const Real& real_;
  std::atomic<bool> is_available_{false};
  std::mutex mutex_;  // guards what follows while it is made
  Request request_{};
};

}  // namespace huddle::mpi
