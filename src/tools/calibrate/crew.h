// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Threads that measure: one for each processor, pinned to it, kept from one measurement to the next
// so that none of them pays for starting a thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "tools/calibrate/verdict.h"

namespace huddle::calibrate {

class Crew {
 public:
  // pre: no processor twice. Throws FailureError naming a processor that threads may not run on.
  explicit Crew(std::span<const int> pus);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Runs work(i) on the thread of pus[i], all at once, and waits for all. The first exception of a
  // thread is thrown on. pre: each is a processor of the crew, none twice.
  std::vector<ThreadUse> run(std::span<const int> pus,
                             const std::function<void(std::size_t)>& work);

 private:
  class Member;
  Member& member(int pu) const;

  std::unordered_map<int, std::unique_ptr<Member>> members_;  // by processor
};

// A point that all of a few running threads reach before any goes on. They spin: sleepers would
// start microseconds apart.
class StartLine {
 public:
  explicit StartLine(std::size_t threads) : threads_(threads) {}
  void wait();
  // For a thread that fails before or after it arrived: nobody waits any more.
  void give_up();

 private:
  const std::size_t threads_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<bool> given_up_{false};
};

}  // namespace huddle::calibrate
