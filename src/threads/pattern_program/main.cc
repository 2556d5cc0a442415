// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs one of the known patterns for so many seconds: `huddle profile --accuracy` watches it as it
// would any other program. Arguments: the pattern's name, seconds.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "threads/pattern.h"

namespace {

using huddle::threads::Pattern;
using Clock = std::chrono::steady_clock;

constexpr std::size_t words_a_page = 512, pages_a_region = 16, words_a_line = 8;

// Whole pages, all filled by the first thread, as many programs do it.
class Region {
 public:
  Region() : words_(new (std::align_val_t(4096)) std::atomic<long>[words_a_page * pages_a_region]) {
    for (std::size_t i = 0; i < words_a_page * pages_a_region; ++i) words_[i].store(1);
  }
  ~Region() { ::operator delete[](words_, std::align_val_t(4096)); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  void use(Pattern pattern, int thread) {
    const bool own_word = pattern == Pattern::false_sharing;
    const std::size_t word = own_word ? static_cast<std::size_t>(thread) : 0;
    for (std::size_t i = word; i < words_a_page * pages_a_region; i += words_a_line) {
      const long value = words_[i].load(std::memory_order_relaxed);
      if (pattern != Pattern::read_mostly) words_[i].store(value + 1, std::memory_order_relaxed);
    }
  }

 private:
  std::atomic<long>* words_;
};

struct Half {
  std::vector<std::vector<int>> users;
  std::vector<std::unique_ptr<Region>> regions;
};

Half make_half(Pattern pattern, bool is_second) {
  Half half{regions_of(pattern, is_second), {}};
  for (std::size_t i = 0; i < half.users.size(); ++i) {
    half.regions.push_back(std::make_unique<Region>());
  }
  return half;
}

void work(Pattern pattern, int thread, const Half& half, Clock::time_point end) {
  while (Clock::now() < end) {
    for (std::size_t i = 0; i < half.users.size(); ++i) {
      for (const int user : half.users[i]) {
        if (user == thread) half.regions[i]->use(pattern, thread);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto pattern = huddle::threads::pattern_named(argc > 2 ? argv[1] : "");
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0;
  if (!pattern || seconds <= 0) {
    std::fputs("arguments: PATTERN SECONDS\n", stderr);
    return 2;
  }
  const Half first = make_half(*pattern, false);
  const Half second = make_half(*pattern, true);
  const auto start = Clock::now();
  const auto after = [start](double s) {
    return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  std::vector<std::thread> threads;
  const auto run = [&](int thread) {
    work(*pattern, thread, first, after(seconds / 2));
    work(*pattern, thread, second, after(seconds));
  };
  for (int t = 1; t < huddle::threads::pattern_threads; ++t) threads.emplace_back(run, t);
  run(0);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
