// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// IS: counting sort of integers. Each thread has a part of the keys and writes all over the result.
#include <algorithm>

#include "kernel.h"

namespace huddle::kernels {
namespace {

constexpr int keys = 1 << 19, values = 1 << 10;

class Is : public Kernel {
 public:
  Is() : keys_(keys), sorted_(keys), counts_(std::size_t{values} * threads) {
    for (std::size_t i = 0; i < keys; ++i) keys_[i] = static_cast<int>(next_random(seed_) % values);
  }

  void step(int thread, Meeting& meeting) override {
    const Share mine(thread, keys);
    int* const counts = counts_.from(std::size_t{values} * at(thread));
    std::fill(counts, counts + values, 0);
    for (int i = mine.first; i < mine.last; ++i) ++counts[at(keys_[at(i)])];
    meeting.arrive_and_wait();
    if (thread == 0) make_starts();
    meeting.arrive_and_wait();
    for (int i = mine.first; i < mine.last; ++i) {
      const int key = keys_[at(i)];
      sorted_[at(counts[at(key)]++)] = key;
    }
    meeting.arrive_and_wait();
    // The next step has different keys.
    for (int i = mine.first; i < mine.last; ++i) keys_[at(i)] = (keys_[at(i)] * 5 + 1) % values;
    meeting.arrive_and_wait();
  }

  bool is_right(int) const override {
    for (std::size_t i = 1; i < keys; ++i) {
      if (sorted_[i - 1] > sorted_[i]) return false;
    }
    return sorted_[0] == 0 && sorted_[keys - 1] == values - 1;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  // Converts counts to the position of the first key of each value and thread.
  void make_starts() {
    int next = 0;
    for (std::size_t value = 0; value < values; ++value) {
      for (std::size_t thread = 0; thread < threads; ++thread) {
        int& count = counts_[thread * values + value];
        const int start = next;
        next += count;
        count = start;
      }
    }
  }

  std::uint64_t seed_ = 2;
  Pages<int> keys_, sorted_, counts_;
};

}  // namespace

std::unique_ptr<Kernel> make_is() { return std::make_unique<Is>(); }

}  // namespace huddle::kernels
