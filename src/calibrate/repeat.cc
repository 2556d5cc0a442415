// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "calibrate/repeat.h"

#include <algorithm>
#include <array>
#include <vector>

namespace huddle::calibrate {
namespace {

// The first to have enough ends it for all: what the others did after that was less disturbed.
std::vector<double> time_until(std::atomic<bool>& over, const Progress& progress,
                               std::size_t repeat, const std::function<void()>& work) {
  std::vector<double> samples;
  while (progress.wants_more(samples.size())) {
    const double start = now_ns();
    work();
    const double took = now_ns() - start;
    if (over.load(std::memory_order_relaxed)) break;
    samples.push_back(took / static_cast<double>(repeat));
  }
  over.store(true, std::memory_order_relaxed);
  return samples;
}

// In the order in which they were taken, as far as all have samples.
std::vector<double> interleaved(const std::vector<std::vector<double>>& each) {
  std::size_t shortest = each.front().size();
  for (const auto& samples : each) shortest = std::min(shortest, samples.size());
  std::vector<double> all;
  all.reserve(shortest * each.size());
  for (std::size_t i = 0; i < shortest; ++i) {
    for (const auto& samples : each) all.push_back(samples[i]);
  }
  return all;
}

}  // namespace

Samples time_together(Crew& crew, std::span<const int> pus, std::size_t repeat,
                      const Extent& extent, const Budget& budget,
                      const std::function<void(std::size_t, std::size_t)>& work) {
  std::vector<std::vector<double>> each(pus.size());
  StartLine start(pus.size());
  std::atomic<bool> over{false};
  Samples samples;
  samples.threads = crew.run(pus, [&](std::size_t who) {
    work(who, 1);  // warms up: caches, page tables, the processor's clock
    start.wait();
    each[who] = time_until(over, Progress(extent, budget), repeat, [&] { work(who, repeat); });
  });
  samples.ns = interleaved(each);
  return samples;
}

Samples time_prepared(Crew& crew, int pu, const Prepared& prepared, const Extent& extent,
                      const Budget& budget) {
  Samples samples;
  samples.threads = crew.run(std::array{pu}, [&](std::size_t) {
    const Progress progress(extent, budget);
    while (progress.wants_more(samples.ns.size())) {
      prepared.prepare();
      const double start = now_ns();
      prepared.work();
      samples.ns.push_back((now_ns() - start) / static_cast<double>(prepared.pieces));
    }
  });
  return samples;
}

}  // namespace huddle::calibrate
