// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// time_rounds of repeat.h.
#include <atomic>
#include <iterator>
#include <utility>
#include <vector>

#include "tools/calibrate/flag.h"
#include "tools/calibrate/repeat.h"

namespace huddle::calibrate {
namespace {

// A point that all threads pass together, again and again.
class Gate {
 public:
  explicit Gate(std::size_t threads) : threads_(threads) {}

  // False once somebody failed: there will be no further round.
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
  alignas(apart_bytes) std::atomic<std::size_t> arrived_{0};
  alignas(apart_bytes) std::atomic<std::uint32_t> passed_{0};
  std::atomic<bool> failed_{false};
  const std::size_t threads_;
};

// What one thread does. The first decides for all whether there is another round.
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

Samples time_rounds(Crew& crew, std::span<const int> pus, const Rounds& rounds,
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
