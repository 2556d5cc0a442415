// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Synthetic programs: the events that the threads of such programs would cause.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/machine.h"
#include "model/machine/machine_file.h"
#include "placement/mapping/random.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

inline machine::Machine machine_of(const std::string& name) {
  return machine::read_machine_file(std::string(HUDDLE_SOURCE_DIR "/machines/") + name + ".toml");
}

using Pairs = std::vector<std::pair<int, int>>;

// Threads that share one page per pair. A random thread of the pair touches the page next.
class Program {
 public:
  Program(int threads, std::uint64_t seed) : threads_(threads), random_(seed) {}

  // Hardware threads on which the operating system runs the threads: thread t on seats[t].
  std::vector<int> assignments;
  // Memory traffic of each thread; empty if it cannot be counted.
  std::vector<double> bytes_per_s;

  // Appends touches and looks for this time, with 50 touches per pair every 10 ms.
  void run(Events& events, const Pairs& pairs, int milliseconds) {
    constexpr std::uint64_t step_ns = 10'000'000, look_ns = 50'000'000;
    for (int step = 0; step < milliseconds / 10; ++step) {
      if (now_ns_ % look_ns == 0) events.emplace_back(look());
      for (int touch = 0; touch < 50; ++touch) {
        for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
          const auto [a, b] = pairs[pair];
          events.emplace_back(Touch{now_ns_ + static_cast<std::uint64_t>(touch),
                                    random_.below(2) == 0 ? a : b, first_page_ + pair, true});
        }
      }
      now_ns_ += step_ns;
    }
    events.emplace_back(look());
  }
  // Uses other pages from now on.
  void change() { first_page_ += 1000; }

 private:
  Look look() const {
    Look look{now_ns_, {}};
    for (int thread = 0; thread < threads_; ++thread) {
      const int assignment =
          assignments.empty() ? thread : assignments[static_cast<std::size_t>(thread)];
      look.threads.push_back({thread, now_ns_ / 2, assignment});
      if (bytes_per_s.empty()) continue;
      look.threads.back().memory_bytes = static_cast<std::uint64_t>(
          bytes_per_s[static_cast<std::size_t>(thread)] * static_cast<double>(now_ns_) * 1e-9);
    }
    return look;
  }

  int threads_;
  mapping::Random random_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t first_page_ = 100;
};

// Pairs of threads t and t + threads / 2.
inline Pairs far_pairs(int threads) {
  Pairs pairs;
  for (int t = 0; t < threads / 2; ++t) pairs.emplace_back(t, t + threads / 2);
  return pairs;
}
inline Pairs near_pairs(int threads) {
  Pairs pairs;
  for (int t = 0; t < threads; t += 2) pairs.emplace_back(t, t + 1);
  return pairs;
}
inline Pairs all_pairs(int threads) {
  Pairs pairs;
  for (int a = 0; a < threads; ++a) {
    for (int b = 0; b < a; ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

}  // namespace huddle::threads
