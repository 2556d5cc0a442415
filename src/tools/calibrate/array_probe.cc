// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/array_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/error.h"
#include "runtime/memory/copy_kernels.h"
#include "tools/calibrate/clock.h"

namespace huddle::calibrate {
namespace {

// Some 20 to 100 us a sample.
constexpr std::size_t array_loads_a_sample = 4096;
constexpr std::size_t lines_a_sample = 4096;
constexpr std::size_t numbers_a_line = memory::line_bytes / sizeof(double);
// The same addresses in every run, and in both places.
constexpr std::uint64_t seed = 20260101;

// The high half of a multiplicative generator's words, by which an index is scaled: no division
// stands between two loads.
std::size_t next_below(std::uint64_t& random, std::size_t end) {
  random = random * 6364136223846793005U + 1442695040888963407U;
  return static_cast<std::size_t>(((random >> 32U) * end) >> 32U);
}

std::byte* in_heap(memory::Heap& heap, std::size_t bytes) {
  void* const block = heap.allocate(bytes);
  if (block == nullptr) throw FailureError("there is no memory for an array in the shared heap");
  return static_cast<std::byte*>(block);
}

}  // namespace

ArrayProbe::ArrayProbe(Crew& crew, int pu, machine::ArrayPlace place, std::size_t bytes)
    : crew_(crew), pu_(pu), random_(seed) {
  std::byte* data = nullptr;
  switch (place) {
    case machine::ArrayPlace::program:
      buffer_ = memory::PageBuffer(bytes);
      data = buffer_.data();
      break;
    case machine::ArrayPlace::heap:
      // Addresses cost nothing.
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
    // What nobody uses would not be loaded.
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

}  // namespace huddle::calibrate
