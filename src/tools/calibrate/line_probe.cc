// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/line_probe.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "model/machine/infer.h"
#include "tools/calibrate/pinned_threads.h"

namespace huddle::calibrate {
namespace {

// About 10 us per sample: the 25 ns of the clock do not matter, and a preemption is still visible.
constexpr Count round_trips_a_sample = 100;

struct OwnLines {
  Flag ping_flag;
  Flag pong_flag;
  std::atomic<Count>& ping() { return ping_flag.value; }
  std::atomic<Count>& pong() { return pong_flag.value; }
};

struct alignas(false_sharing_bytes) SharedLine {
  std::atomic<Count> ping_word{0};
  std::atomic<Count> pong_word{0};
  std::atomic<Count>& ping() { return ping_word; }
  std::atomic<Count>& pong() { return pong_word; }
};

// Times batches until there are enough samples. The first batch warms up and is dropped.
template <class RoundTrip>
std::vector<double> time_batches(const Extent& extent, const Budget& budget, Count batch,
                                 RoundTrip round_trip) {
  std::vector<double> samples;
  Count count = 0;
  for (Count i = 0; i < batch; ++i) round_trip(++count);
  const Progress progress(extent, budget);
  while (progress.wants_more(samples.size())) {
    const double start = now_ns();
    for (Count i = 0; i < batch; ++i) round_trip(++count);
    samples.push_back((now_ns() - start) / batch);
  }
  round_trip(quit);
  return samples;
}

void answer(const std::atomic<Count>& heard, std::atomic<Count>& said) {
  for (Count count = 1;; ++count) {
    const Count seen = await(heard, count);
    publish(said, seen);
    if (seen == quit) return;
  }
}

template <class Lines>
Samples time_ping_pong(MeasuringThreads& crew, int a, int b, const Extent& extent,
                       const Budget& budget) {
  const Placed<Lines> lines(crew, a);
  Samples samples;
  const std::array<int, 2> pus = {a, b};
  samples.threads = crew.run(pus, [&](std::size_t who) {
    if (who == 1) return answer(lines->ping(), lines->pong());
    samples.ns = time_batches(extent, budget, round_trips_a_sample, [&](Count count) {
      publish(lines->ping(), count);
      await(lines->pong(), count);
    });
  });
  for (double& sample : samples.ns) sample /= 2;
  return samples;
}

// State of one reader of a flag: its acknowledgement, and the time when it saw the flag.
struct alignas(false_sharing_bytes) Reader {
  std::atomic<Count> seen{0};
  double when_ns = 0;
};

void read_flag(const Flag& flag, Reader& reader) {
  for (Count count = 1;; ++count) {
    const Count seen = await(flag.value, count);
    reader.when_ns = now_ns();
    publish(reader.seen, seen);
    if (seen == quit) return;
  }
}

// A flag on which all writers wait, and the flags with which they answer. The answers share a cache
// line.
struct Calls {
  Flag call;
  alignas(false_sharing_bytes) std::array<std::atomic<Count>, most_packed_flags> packed{};
};

double last_reader_ns(std::span<const Reader> readers, Count count) {
  double last = 0;
  for (const Reader& reader : readers) {
    await(reader.seen, count);
    last = std::max(last, reader.when_ns);
  }
  return last;
}

// Waits until every reader spins on the flag again: a sample must not include a late reader.
void let_readers_settle() {
  constexpr double settle_ns = 300;
  const double until = now_ns() + settle_ns;
  while (now_ns() < until) memory::spin_pause();
}

std::vector<double> write_flag(Flag& flag, std::span<const Reader> readers, const Extent& extent,
                               const Budget& budget) {
  std::vector<double> samples;
  const Progress progress(extent, budget);
  for (Count count = 1; progress.wants_more(samples.size()); ++count) {
    let_readers_settle();
    const double start = now_ns();
    publish(flag.value, count);
    samples.push_back(last_reader_ns(readers, count) - start);
  }
  publish(flag.value, quit);
  return samples;
}

}  // namespace

Samples time_line(MeasuringThreads& crew, int a, int b, LineUse use, const Extent& extent,
                  const Budget& budget) {
  switch (use) {
    case LineUse::own_lines:
      return time_ping_pong<OwnLines>(crew, a, b, extent, budget);
    case LineUse::shared_line:
      return time_ping_pong<SharedLine>(crew, a, b, extent, budget);
  }
  return {};
}

Samples time_readers(MeasuringThreads& crew, std::span<const int> pus, const Extent& extent,
                     const Budget& budget) {
  const Placed<Flag> flag(crew, pus.front());
  const Placed<Reader> readers(crew, pus.front(), pus.size() - 1);
  Samples samples;
  samples.threads = crew.run(pus, [&](std::size_t who) {
    if (who > 0) return read_flag(*flag, readers.all()[who - 1]);
    samples.ns = write_flag(*flag, readers.all(), extent, budget);
  });
  return samples;
}

Samples time_packed_flags(MeasuringThreads& crew, std::span<const int> pus, const Extent& extent,
                          const Budget& budget) {
  const Placed<Calls> calls(crew, pus.front());
  auto& packed = calls->packed;
  const std::size_t writers = std::min(pus.size() - 1, most_packed_flags);
  Samples samples;
  samples.threads = crew.run(pus.first(writers + 1), [&](std::size_t who) {
    if (who > 0) return answer(calls->call.value, packed[who - 1]);
    samples.ns = time_batches(extent, budget, round_trips_a_sample, [&](Count count) {
      publish(calls->call.value, count);
      for (std::size_t i = 0; i < writers; ++i) await(packed[i], count);
    });
  });
  return samples;
}

namespace {

using machine::Cluster;
using machine::LinePairs;

Pair in_order(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

void set(LinePairs& pairs, std::size_t i, std::size_t j, double ns) {
  const std::size_t n = pairs.pus.size();
  pairs.one_way_ns[i * n + j] = ns;
  pairs.one_way_ns[j * n + i] = ns;
}

LinePairs empty_matrix(std::vector<int> pus) {
  LinePairs pairs;
  std::sort(pus.begin(), pus.end());
  pairs.pus = std::move(pus);
  pairs.one_way_ns.assign(pairs.pus.size() * pairs.pus.size(), 0);
  return pairs;
}

double latency_of_level(const machine::Machine& machine, std::string_view level) {
  const auto found = std::find_if(machine.line.begin(), machine.line.end(),
                                  [level](const auto& cost) { return cost.level == level; });
  return found->one_way_ns;
}

// Returns the pairs for which `cluster` is the innermost common cluster.
std::vector<Pair> pairs_across(const Cluster& cluster) {
  std::vector<Pair> across;
  for (const Pair& pair : all_pairs(cluster.cpus.cpus())) {
    const bool inside = std::any_of(
        cluster.children.begin(), cluster.children.end(), [&pair](const Cluster& child) {
          return child.cpus.contains(pair.first) && child.cpus.contains(pair.second);
        });
    if (!inside) across.push_back(pair);
  }
  return across;
}

void collect(const Cluster& cluster, std::vector<std::vector<Pair>>& each) {
  each.push_back(pairs_across(cluster));
  for (const Cluster& child : cluster.children) collect(child, each);
}

// Returns for each hardware thread the number of others with which it has no measured pair.
std::map<int, std::size_t> missing_of_each(const std::set<int>& pus,
                                           const std::map<Pair, Summary>& lines) {
  std::map<int, std::size_t> missing;
  for (const Pair& pair : all_pairs({pus.begin(), pus.end()})) {
    if (lines.contains(pair)) continue;
    ++missing[pair.first];
    ++missing[pair.second];
  }
  return missing;
}

// Drops the hardware thread with the most missing pairs until the matrix of the others is complete.
void drop_incomplete(std::set<int>& pus, const std::map<Pair, Summary>& lines) {
  while (true) {
    const auto missing = missing_of_each(pus, lines);
    if (missing.empty()) return;
    const auto worst =
        std::max_element(missing.begin(), missing.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    pus.erase(worst->first);
  }
}

}  // namespace

std::optional<LinePairs> pairs_of(const std::map<Pair, Summary>& lines) {
  std::set<int> pus;
  for (const auto& [pair, summary] : lines) pus.insert({pair.first, pair.second});
  drop_incomplete(pus, lines);
  if (pus.size() < 2) return std::nullopt;
  LinePairs pairs = empty_matrix({pus.begin(), pus.end()});
  for (std::size_t i = 0; i < pairs.pus.size(); ++i) {
    for (std::size_t j = i + 1; j < pairs.pus.size(); ++j) {
      set(pairs, i, j, lines.at({pairs.pus[i], pairs.pus[j]}).median);
    }
  }
  return pairs;
}

std::optional<LinePairs> filled_pairs(const machine::Machine& machine, const std::vector<int>& pus,
                                      const std::map<Pair, Summary>& lines) {
  if (pus.size() < 2) return std::nullopt;
  const machine::GroupIndex index(machine.topology);
  LinePairs pairs = empty_matrix(pus);
  for (std::size_t i = 0; i < pairs.pus.size(); ++i) {
    for (std::size_t j = i + 1; j < pairs.pus.size(); ++j) {
      const int a = pairs.pus[i];
      const int b = pairs.pus[j];
      const auto found = lines.find(in_order(a, b));
      const std::size_t level = index.joining_level(a, b);
      const std::string_view name = level == index.levels()
                                        ? machine::whole_machine
                                        : std::string_view(machine.topology.levels[level].name);
      set(pairs, i, j,
          found != lines.end() ? found->second.median : latency_of_level(machine, name));
    }
  }
  return pairs;
}

std::vector<Pair> pairs_of_clusters(const LinePairs& scanned, std::size_t most) {
  std::vector<std::vector<Pair>> each;
  collect(machine::infer_levels(scanned), each);
  std::erase_if(each, [](const auto& pairs) { return pairs.empty(); });
  if (each.size() > most) each.resize(most);
  std::vector<Pair> chosen;
  for (const auto& pairs : each) {
    const std::size_t count = std::min(pairs.size(), most / each.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(pairs[i * pairs.size() / count]);
  }
  return chosen;
}

}  // namespace huddle::calibrate
