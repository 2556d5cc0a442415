// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs one of the known patterns; `huddle profile --accuracy` watches it like any other program.
// Arguments: the pattern's name and the duration in seconds.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "placement/threads/pattern.h"

namespace {

using huddle::threads::Pattern;
using Clock = std::chrono::steady_clock;

constexpr std::size_t words_a_page = 512, words_a_line = 8;

// NUMA balancing unmaps all pages at once, at intervals of seconds. A traversal of the memory has
// to take several time slices, so that the first thread to run does not take all faults.
struct Use {
  std::size_t pages = 16;
  int times = 1;  // number of passes over each page
};
Use use_of(Pattern pattern) {
  return pattern == Pattern::read_mostly ? Use{.pages = 256, .times = 2000} : Use{};
}

// Whole pages, all initialized by the first thread, as in many programs.
class Region {
 public:
  explicit Region(Pattern pattern)
      : pattern_(pattern),
        use_(use_of(pattern)),
        words_in_all_(words_a_page * use_.pages),
        words_(new (std::align_val_t(4096)) std::atomic<long>[words_in_all_]) {
    // A huge page would only show the first thread that accesses any part of it.
    ::madvise(words_, words_in_all_ * sizeof *words_, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < words_in_all_; ++i) words_[i].store(1);
  }
  ~Region() { ::operator delete[](words_, std::align_val_t(4096)); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  void use(int thread) {
    const bool own_word = pattern_ == Pattern::false_sharing;
    const std::size_t word = own_word ? static_cast<std::size_t>(thread) : 0;
    for (std::size_t page = 0; page < use_.pages; ++page) {
      for (int time = 0; time < use_.times; ++time) use_page(page * words_a_page, word);
    }
  }

 private:
  void use_page(std::size_t start, std::size_t word) {
    for (std::size_t i = start + word; i < start + words_a_page; i += words_a_line) {
      const long value = words_[i].load(std::memory_order_relaxed);
      if (pattern_ != Pattern::read_mostly) words_[i].store(value + 1, std::memory_order_relaxed);
    }
  }

  Pattern pattern_;
  Use use_;
  std::size_t words_in_all_;
  std::atomic<long>* words_;
};

struct Half {
  std::vector<std::vector<int>> users;
  std::vector<std::unique_ptr<Region>> regions;
};

Half make_half(Pattern pattern, bool is_second) {
  Half half{regions_of(pattern, is_second), {}};
  for (std::size_t i = 0; i < half.users.size(); ++i) {
    half.regions.push_back(std::make_unique<Region>(pattern));
  }
  return half;
}

void work(int thread, const Half& half, Clock::time_point end) {
  while (Clock::now() < end) {
    for (std::size_t i = 0; i < half.users.size(); ++i) {
      for (const int user : half.users[i]) {
        if (user == thread) half.regions[i]->use(thread);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto pattern = huddle::threads::pattern_named(argc > 2 ? argv[1] : "");
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0;
  if (!pattern || seconds <= 0) {
    std::fputs("usage: huddle-pattern PATTERN SECONDS\n", stderr);
    return 2;
  }
  const Half first = make_half(*pattern, false);
  const bool changes = *pattern == Pattern::change;
  const Half second = changes ? make_half(*pattern, true) : Half();
  const auto start = Clock::now();
  const auto after = [start](double s) {
    return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  std::vector<std::thread> threads;
  const auto run = [&](int thread) {
    work(thread, first, after(seconds / 2));
    work(thread, changes ? second : first, after(seconds));
  };
  for (int t = 1; t < huddle::threads::pattern_threads; ++t) threads.emplace_back(run, t);
  run(0);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
