// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Keeps the MPI progressing while a rank waits in huddle: testing a request that is not complete
// makes all of the MPI's progress, and a generalised request completes only when we say so. It
// needs no communicator, and so no other rank to take part.
#pragma once

#include <atomic>
#include <mutex>

#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

class MpiProgress {
 public:
  explicit MpiProgress(const UnderlyingMpi& real) : real_(real) {}

  // Several threads may; again: nothing. Whether it is there.
  bool start();
  bool is_available() const { return is_available_.load(std::memory_order_relaxed); }
  // Nothing where it is not there.
  void poll() const;
  // Before the MPI goes down. pre: nobody asks.
  void stop();

 private:
  const UnderlyingMpi& real_;
  std::atomic<bool> is_available_{false};
  std::mutex mutex_;  // guards what follows while it is made
  Request request_{};
};

}  // namespace huddle::mpi
