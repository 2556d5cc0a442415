// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/memory_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "common/error.h"
#include "runtime/memory/copy.h"
#include "tools/calibrate/repeat.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {
namespace {

using memory::line_bytes;

// A sample takes about 100 us.
constexpr std::size_t memory_loads_a_sample = 1000;
// The same layout in every run, so that differences between runs are due to the machine.
constexpr std::uint64_t layout_seed = 20260101;

std::size_t load(const std::byte* data, std::size_t line) {
  std::uint64_t next = 0;
  std::memcpy(&next, data + line * line_bytes, sizeof next);
  return static_cast<std::size_t>(next);
}

void store(std::byte* data, std::size_t line, std::size_t next) {
  const std::uint64_t word = next;
  std::memcpy(data + line * line_bytes, &word, sizeof word);
}

}  // namespace

MemoryProbe::MemoryProbe(MeasuringThreads& crew, int pu, std::size_t bytes, int numa_node,
                         const Budget& budget)
    : crew_(crew), pu_(pu), buffer_(bytes, numa_node) {
  crew_.run(std::array{pu}, [&](std::size_t) { lay_out(budget); });
}

// Builds one cycle through all lines in random order (Sattolo's shuffle, extended line by line).
// After each step the first lines_ lines form a complete cycle, so that construction can stop
// early.
void MemoryProbe::lay_out(const Budget& budget) {
  const std::size_t all = buffer_.size() / line_bytes;
  constexpr std::size_t lines_between_looks = 4096;
  std::mt19937_64 random(layout_seed);
  store(buffer_.data(), 0, 0);
  for (lines_ = 1; lines_ < all; ++lines_) {
    if (lines_ % lines_between_looks == 0 && budget.spent()) return;
    const std::size_t before = random() % lines_;
    store(buffer_.data(), lines_, load(buffer_.data(), before));
    store(buffer_.data(), before, lines_);
  }
}

std::size_t MemoryProbe::cycle_lines() const {
  std::size_t loads = 1;
  for (std::size_t at = load(buffer_.data(), 0); at != 0; at = load(buffer_.data(), at)) ++loads;
  return loads;
}

Samples MemoryProbe::time_loads(const Extent& extent, const Budget& budget) {
  Samples samples;
  samples.threads = crew_.run(std::array{pu_}, [&](std::size_t) {
    const std::byte* const data = buffer_.data();
    const Progress progress(extent, budget);
    while (progress.wants_more(samples.ns.size())) {
      const double start = now_ns();
      for (std::size_t i = 0; i < memory_loads_a_sample; ++i) at_ = load(data, at_);
      samples.ns.push_back((now_ns() - start) / memory_loads_a_sample);
    }
  });
  return samples;
}

namespace {

// A sample takes about 20 to 100 us.
constexpr std::size_t array_loads_a_sample = 4096;
constexpr std::size_t lines_a_sample = 4096;
constexpr std::size_t numbers_a_line = memory::line_bytes / sizeof(double);
// Seed of the random addresses, which are the same in every run and for both places.
constexpr std::uint64_t seed = 20260101;

// Scales the high half of the output of a linear congruential generator to the range, without a
// division between two loads.
std::size_t next_below(std::uint64_t& random, std::size_t end) {
  random = random * 6364136223846793005U + 1442695040888963407U;
  return static_cast<std::size_t>(((random >> 32U) * end) >> 32U);
}

std::byte* in_heap(memory::Heap& heap, std::size_t bytes) {
  void* const block = heap.allocate(bytes);
  if (block == nullptr) throw FailureError("not enough memory for an array in the shared heap");
  return static_cast<std::byte*>(block);
}

}  // namespace

ArrayProbe::ArrayProbe(MeasuringThreads& crew, int pu, machine::ArrayPlace place, std::size_t bytes)
    : crew_(crew), pu_(pu), random_(seed) {
  std::byte* data = nullptr;
  switch (place) {
    case machine::ArrayPlace::program:
      buffer_ = memory::PageBuffer(bytes);
      data = buffer_.data();
      break;
    case machine::ArrayPlace::heap:
      // The heap only reserves addresses, so twice the size costs nothing.
      heap_ = std::make_unique<memory::Heap>(2 * bytes);
      data = in_heap(*heap_, bytes);
      break;
  }
  numbers_ = {reinterpret_cast<double*>(data), bytes / sizeof(double)};
  crew_.run(std::array{pu}, [&](std::size_t) { std::ranges::fill(numbers_, 1.0); });
}

Samples ArrayProbe::time_loads(const Extent& extent, const Budget& budget) {
  Samples samples;
  samples.threads = crew_.run(std::array{pu_}, [&](std::size_t) {
    double sum = 0;
    const Progress progress(extent, budget);
    while (progress.wants_more(samples.ns.size())) {
      const double start = now_ns();
      for (std::size_t i = 0; i < array_loads_a_sample; ++i) {
        sum += numbers_[next_below(random_, numbers_.size())];
      }
      samples.ns.push_back((now_ns() - start) / array_loads_a_sample);
    }
    // Uses the sum, so that the compiler keeps the loads.
    numbers_[0] += sum / static_cast<double>(numbers_.size());
  });
  return samples;
}

Samples ArrayProbe::time_stream(const Extent& extent, const Budget& budget) {
  const std::size_t count = numbers_.size() / 3;
  const std::size_t step = std::min(lines_a_sample * numbers_a_line, count);
  const std::span<double> a = numbers_.first(count);
  const std::span<double> b = numbers_.subspan(count, count);
  const std::span<double> c = numbers_.subspan(2 * count, count);
  Samples samples;
  samples.threads = crew_.run(std::array{pu_}, [&](std::size_t) {
    const Progress progress(extent, budget);
    while (progress.wants_more(samples.ns.size())) {
      if (at_ + step > count) at_ = 0;
      const double start = now_ns();
      for (std::size_t i = at_; i < at_ + step; ++i) a[i] = b[i] + 3 * c[i];
      samples.ns.push_back((now_ns() - start) * numbers_a_line / static_cast<double>(step));
      at_ += step;
    }
  });
  return samples;
}

std::size_t repeats_for(std::size_t bytes) {
  // A sample takes about 10 us at 50 bytes per ns, and reading the clock 25 ns.
  constexpr std::size_t bytes_a_sample = 512 * 1024;
  return std::max<std::size_t>(1, bytes_a_sample / std::max<std::size_t>(1, bytes));
}

CopyProbe::CopyProbe(MeasuringThreads& crew, std::span<const int> pus, std::size_t most_bytes)
    : crew_(crew), pus_(pus.begin(), pus.end()), buffers_(pus.size()) {
  crew_.run(pus_, [&](std::size_t who) {
    buffers_[who] = {memory::PageBuffer(most_bytes), memory::PageBuffer(most_bytes)};
    buffers_[who].source.touch();
    buffers_[who].target.touch();
  });
}

Samples CopyProbe::time(std::size_t bytes, memory::CopyKernel kernel, const Extent& extent,
                        const Budget& budget) {
  return time_together(crew_, pus_, repeats_for(bytes), extent, budget,
                       [&](std::size_t who, std::size_t repeat) {
                         const Buffers& own = buffers_[who];
                         for (std::size_t i = 0; i < repeat; ++i) {
                           copy_bytes(kernel, own.target.data(), own.source.data(), bytes);
                         }
                       });
}

}  // namespace huddle::calibrate
