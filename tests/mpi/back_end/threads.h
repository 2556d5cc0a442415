// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Threads that start together, to test objects that are created at their first use.
#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

namespace huddle::mpi {

inline constexpr int threads_at_once = 4;

// Calls work(thread) on each of the threads.
template <class Work>
void at_once(Work work) {
  std::barrier start(threads_at_once);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < threads_at_once; ++thread) {
    threads.emplace_back([&, thread] {
      start.arrive_and_wait();
      work(thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace huddle::mpi
