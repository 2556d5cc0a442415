// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/memory_probe.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace huddle::calibrate {
namespace {

using memory::line_bytes;

// Some 100 us a sample.
constexpr std::size_t memory_loads_a_sample = 1000;
// Equal layouts in every run: what differs between two runs is the machine.
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

MemoryProbe::MemoryProbe(Crew& crew, int pu, std::size_t bytes, int numa_node, const Budget& budget)
    : crew_(crew), pu_(pu), buffer_(bytes, numa_node) {
  crew_.run(std::array{pu}, [&](std::size_t) { lay_out(budget); });
}

// One cycle through all lines in random order (Sattolo's shuffle, grown line by line): the cycle of
// the first n lines is whole at every moment, so it can end anywhere.
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

}  // namespace huddle::calibrate
