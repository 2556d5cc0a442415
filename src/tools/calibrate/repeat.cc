// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/repeat.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <utility>
#include <vector>

#include "tools/calibrate/pinned_threads.h"

namespace huddle::calibrate {
namespace {

// Decides when all cores stop measuring: as soon as one has enough samples, provided that each has
// a few, because late cores would otherwise have none. A failure ends the measurement at once.
class Ending {
 public:
  Ending(std::size_t cores, const Extent& extent, const Budget& budget)
      : few_(std::min(samples_in_any_case, extent.most)), cores_with_few_(cores), budget_(budget) {}

  void one_has_enough() { enough_.store(true, std::memory_order_relaxed); }
  void one_failed() { failed_.store(true, std::memory_order_relaxed); }
  // Requires: called once per sample.
  void one_has(std::size_t samples) {
    if (samples == few_) cores_with_few_.fetch_sub(1, std::memory_order_relaxed);
  }
  bool is_here() const {
    if (failed_.load(std::memory_order_relaxed) || budget_.stopped()) return true;
    return enough_.load(std::memory_order_relaxed) &&
           cores_with_few_.load(std::memory_order_relaxed) == 0;
  }

 private:
  const std::size_t few_;
  std::atomic<std::size_t> cores_with_few_;
  std::atomic<bool> enough_{false};
  std::atomic<bool> failed_{false};
  const Budget& budget_;
};

std::vector<double> time_until(Ending& ending, const Extent& extent, const Budget& budget,
                               std::size_t repeat, const std::function<void()>& work) {
  std::vector<double> samples;
  const Progress progress(extent, budget);
  while (true) {
    if (!progress.wants_more(samples.size())) ending.one_has_enough();
    if (ending.is_here()) return samples;
    const double start = now_ns();
    work();
    const double took = now_ns() - start;
    // Samples that end after the others have stopped saw less contention and are dropped.
    if (ending.is_here()) return samples;
    if (samples.size() >= extent.most) continue;
    samples.push_back(took / static_cast<double>(repeat));
    ending.one_has(samples.size());
  }
}

}  // namespace

Samples time_together(MeasuringThreads& crew, std::span<const int> pus, std::size_t repeat,
                      const Extent& extent, const Budget& budget,
                      const std::function<void(std::size_t, std::size_t)>& work) {
  std::vector<std::vector<double>> each(pus.size());
  StartLine start(pus.size());
  Ending ending(pus.size(), extent, budget);
  Samples samples;
  samples.threads = crew.run(pus, [&](std::size_t who) {
    try {
      work(who, 1);  // warms up caches, page tables and the clock frequency
      start.wait();
      each[who] = time_until(ending, extent, budget, repeat, [&] { work(who, repeat); });
    } catch (...) {
      // Keeps the others from waiting for this thread or measuring without it.
      ending.one_failed();
      start.abandon();
      throw;
    }
  });
  samples.ns = std::move(each.front());
  samples.further_ns.assign(std::make_move_iterator(each.begin() + 1),
                            std::make_move_iterator(each.end()));
  return samples;
}

Samples time_prepared(MeasuringThreads& crew, int pu, const Prepared& prepared,
                      const Extent& extent, const Budget& budget) {
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

namespace {

// A reusable barrier.
class Gate {
 public:
  explicit Gate(std::size_t threads) : threads_(threads) {}

  // Returns false once a thread has failed: there is no further round.
  bool wait() {
    const std::uint32_t passed = passed_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      passed_.store(passed + 1, std::memory_order_release);
    }
    while (passed_.load(std::memory_order_acquire) == passed) {
      if (failed_.load(std::memory_order_relaxed)) return false;
      memory::spin_pause();
    }
    return !failed_.load(std::memory_order_relaxed);
  }
  void fail() { failed_.store(true, std::memory_order_relaxed); }

 private:
  alignas(false_sharing_bytes) std::atomic<std::size_t> arrived_{0};
  alignas(false_sharing_bytes) std::atomic<std::uint32_t> passed_{0};
  std::atomic<bool> failed_{false};
  const std::size_t threads_;
};

// Runs the rounds of one thread. Thread 0 decides for all whether there is another round.
std::vector<double> take_part(std::size_t who, const Rounds& rounds, Gate& gate,
                              std::atomic<bool>& more, const Progress& progress) {
  std::vector<double> samples;
  for (std::uint32_t round = 1;; ++round) {
    rounds.prepare(who, round);
    if (!gate.wait()) return samples;
    if (who < rounds.timed) {
      const double start = now_ns();
      rounds.work(who, round);
      const double took = now_ns() - start;
      if (round > 1) samples.push_back(took / static_cast<double>(rounds.pieces));
    }
    if (who == 0) more.store(progress.wants_more(samples.size()), std::memory_order_relaxed);
    if (!gate.wait() || !more.load(std::memory_order_relaxed)) return samples;
  }
}

}  // namespace

Samples time_rounds(MeasuringThreads& crew, std::span<const int> pus, const Rounds& rounds,
                    const Extent& extent, const Budget& budget) {
  std::vector<std::vector<double>> each(pus.size());
  Gate gate(pus.size());
  std::atomic<bool> more{true};
  Samples samples;
  samples.threads = crew.run(pus, [&](std::size_t who) {
    try {
      each[who] = take_part(who, rounds, gate, more, Progress(extent, budget));
    } catch (...) {
      gate.fail();
      throw;
    }
  });
  each.resize(rounds.timed);
  samples.ns = std::move(each.front());
  samples.further_ns.assign(std::make_move_iterator(each.begin() + 1),
                            std::make_move_iterator(each.end()));
  return samples;
}

}  // namespace huddle::calibrate
