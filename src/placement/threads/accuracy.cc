// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/accuracy.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::threads {
namespace {

// Returns the rank of each value; equal values share the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = static_cast<double>(first + end - 1) / 2;
    for (std::size_t i = first; i < end; ++i) rank[order[i]] = mean;
    first = end;
  }
  return rank;
}

void centre(std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(values.size(), 1));
  for (double& value : values) value -= mean;
}

}  // namespace

std::vector<double> known_pairs(Pattern pattern, bool is_second_half) {
  SharingMatrix matrix;
  std::vector<int> threads(pattern_threads);
  std::iota(threads.begin(), threads.end(), 0);
  for (const std::vector<int>& users : regions_of(pattern, is_second_half)) {
    for (const int a : users) {
      for (const int b : users) {
        if (a < b) matrix.add(a, b);
      }
    }
  }
  return seen_pairs(matrix, threads);
}

std::vector<double> seen_pairs(const SharingMatrix& matrix, const std::vector<int>& threads) {
  std::vector<double> pairs;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) pairs.push_back(matrix.at(threads[i], threads[j]));
  }
  return pairs;
}

std::optional<double> cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const double ab = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  const double aa = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
  const double bb = std::inner_product(b.begin(), b.end(), b.begin(), 0.0);
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> rank_a = ranks(a);
  std::vector<double> rank_b = ranks(b);
  centre(rank_a);
  centre(rank_b);
  return cosine(rank_a, rank_b);
}

namespace {

constexpr int caches = 4, cores_a_cache = 4;

// A generic machine with room for moves, independent of the machine that runs the measurement.
machine::Machine roomy_machine() {
  static_assert(caches == 4 && cores_a_cache == 4);
  return machine::generic_machine(
      machine::discover_from_synthetic("pack:2 l3:2 core:4 pu:1").topology);
}

// Compares the agent's matrix with the known one at each round.
class Examiner : public TouchObserver {
 public:
  Examiner(Pattern pattern, int seconds, Agent& agent)
      : pattern_(pattern),
        half_ns_(static_cast<std::uint64_t>(seconds) * 500'000'000U),
        agent_(agent),
        threads_(pattern_threads) {
    std::iota(threads_.begin(), threads_.end(), 0);
  }

  void take(const Touch& touch) override { agent_.take(touch); }
  Actions take(const Look& look) override {
    const std::optional<Decision> decision = agent_.take(spread(look));
    if (decision) ++verdicts_[decision->reason];
    if (decision && decision->reason == Reason::move && !moved_ns_) moved_ns_ = look.time_ns;
    const bool is_second = pattern_ == Pattern::change && look.time_ns > half_ns_;
    if (is_second && !is_second_) good_since_ns_.reset();
    is_second_ = is_second;
    const std::optional<double> now = likeness();
    if (!now || *now < good_cosine) {
      good_since_ns_.reset();
    } else if (!good_since_ns_) {
      good_since_ns_ = look.time_ns;
    }
    constexpr int look_ms = 50;
    return {true, look_ms};
  }

  Accuracy result() const {
    Accuracy accuracy{.pattern = pattern_, .cosine = likeness()};
    const std::vector<double> seen = pairs();
    accuracy.rank = rank_correlation(seen, known_pairs(pattern_, is_second_));
    accuracy.counts = std::accumulate(seen.begin(), seen.end(), 0.0);
    if (good_since_ns_) {
      const std::uint64_t start_ns = is_second_ ? half_ns_ : 0;
      accuracy.good_after_s = static_cast<double>(*good_since_ns_ - start_ns) * 1e-9;
    }
    if (moved_ns_) accuracy.moved_after_s = static_cast<double>(*moved_ns_) * 1e-9;
    const auto most =
        std::max_element(verdicts_.begin(), verdicts_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != verdicts_.end()) accuracy.verdict = most->first;
    return accuracy;
  }

 private:
  // Assumes that threads with adjacent numbers run in different caches.
  static Look spread(Look look) {
    for (ThreadUse& use : look.threads) {
      use.processor = use.thread % caches * cores_a_cache + use.thread / caches % cores_a_cache;
    }
    return look;
  }
  // For the pattern that changes, uses the matrix that fades; otherwise the one with all events.
  std::vector<double> pairs() const {
    return seen_pairs(pattern_ == Pattern::change ? agent_.recent() : agent_.whole(), threads_);
  }
  std::optional<double> likeness() const {
    return cosine(pairs(), known_pairs(pattern_, is_second_));
  }

  Pattern pattern_;
  std::uint64_t half_ns_;
  Agent& agent_;
  std::vector<int> threads_;
  std::map<Reason, int> verdicts_;
  bool is_second_ = false;
  std::optional<std::uint64_t> good_since_ns_, moved_ns_;
};

}  // namespace

Accuracy measure_accuracy(Pattern pattern, int seconds, WatchedProgram program,
                          NumaBalancing* balancing) {
  if (pattern == Pattern::change) seconds *= 2;  // `seconds` for each half
  const std::string name(known_patterns[static_cast<std::size_t>(pattern)]);
  program.words = {"huddle-pattern", name, fmt::format("{}", seconds)};
  const machine::Machine machine = roomy_machine();
  const machine::CostModel model(machine);
  const Rounds rounds = balancing == nullptr ? Rounds::of_decisions : Rounds::of_pages;
  Agent agent(model, machine.topology.pus, {.rounds = rounds});
  Examiner examiner(pattern, seconds, agent);
  Watched watched = watch_program(program, examiner, balancing);
  Accuracy accuracy = examiner.result();
  accuracy.sees_reads = balancing != nullptr;
  accuracy.watched = std::move(watched);
  return accuracy;
}

}  // namespace huddle::threads
