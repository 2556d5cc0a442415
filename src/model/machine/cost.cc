// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/machine/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace huddle::machine {
namespace {

struct Sample {
  double copiers = 0;
  double ns = 0;
};

double between(const Sample& low, const Sample& high, double copiers) {
  return low.ns + (high.ns - low.ns) * (copiers - low.copiers) / (high.copiers - low.copiers);
}

}  // namespace

double crowd_time_ns(std::span<const CrowdPoint> points, double bytes, int copiers) {
  Sample below{};
  for (const CrowdPoint& point : points) {
    const Sample here{static_cast<double>(point.copiers),
                      std::max(below.ns, time_at(*point.curve, bytes))};
    if (point.copiers >= copiers)
      return below.copiers == 0 ? here.ns : between(below, here, copiers);
    below = here;
  }
  return below.ns * copiers / below.copiers;
}

namespace {

constexpr int no_row = -1;

// Returns the row of each hardware thread in machine.pairs. One that was not measured uses the row
// of the measured one on the same core.
std::vector<int> rows_of_pairs(const Machine& machine) {
  const auto size = static_cast<std::size_t>(*(machine.topology.pus.end() - 1)) + 1;
  std::vector<int> rows(size, no_row);
  if (!machine.pairs) return rows;
  for (std::size_t i = 0; i < machine.pairs->pus.size(); ++i) {
    rows[static_cast<std::size_t>(machine.pairs->pus[i])] = static_cast<int>(i);
  }
  const Level* cores = find_level(machine.topology, "core");
  if (cores == nullptr) return rows;
  for (const CpuSet& core : cores->groups) {
    const auto measured = std::find_if(core.begin(), core.end(), [&rows](int pu) {
      return rows[static_cast<std::size_t>(pu)] != no_row;
    });
    if (measured == core.end()) continue;
    for (int pu : core) {
      int& row = rows[static_cast<std::size_t>(pu)];
      if (row == no_row) row = rows[static_cast<std::size_t>(*measured)];
    }
  }
  return rows;
}

const LineCost* find_line(const Machine& machine, std::string_view level) {
  const auto found = std::find_if(machine.line.begin(), machine.line.end(),
                                  [level](const LineCost& cost) { return cost.level == level; });
  return found == machine.line.end() ? nullptr : &*found;
}

std::string_view level_name(const Topology& topology, std::size_t level) {
  return level == topology.levels.size() ? whole_machine
                                         : std::string_view(topology.levels[level].name);
}

// Returns the position of a level: 0 for the innermost, the number of levels for the machine.
std::size_t rank_of(const Topology& topology, std::string_view level) {
  if (level == whole_machine) return topology.levels.size();
  const auto found = std::find_if(topology.levels.begin(), topology.levels.end(),
                                  [level](const Level& l) { return l.name == level; });
  return static_cast<std::size_t>(found - topology.levels.begin());
}

// The time of serving several cores one after the other: the longest latency, plus a step for all
// but one of them. The one without a step is that with the most expensive step, so that the result
// is independent of the order and monotone in the latencies.
class Queue {
 public:
  void join(double communication_cost_ns, double step_ns) {
    farthest_ns_ = std::max(farthest_ns_, communication_cost_ns);
    steps_ns_ += step_ns;
    dearest_step_ns_ = std::max(dearest_step_ns_, step_ns);
  }
  double ns() const { return farthest_ns_ + steps_ns_ - dearest_step_ns_; }

 private:
  double farthest_ns_ = 0;
  double steps_ns_ = 0;
  double dearest_step_ns_ = 0;
};

// Returns the entry to use for the level at position `rank`: that of the nearest level that is at
// least as far out, which overestimates rather than underestimates; otherwise that of the
// outermost.
template <typename Entry>
const Entry* answering(const Topology& topology, const std::vector<const Entry*>& entries,
                       std::size_t rank) {
  const Entry* best = nullptr;
  for (const Entry* entry : entries) {
    if (best == nullptr) {
      best = entry;
      continue;
    }
    const std::size_t here = rank_of(topology, entry->level);
    const std::size_t there = rank_of(topology, best->level);
    const bool better = there < rank ? here > there : here >= rank && here < there;
    if (better) best = entry;
  }
  return best;
}

// Returns pointers to the entries for which holds(entry) is true.
template <typename Entry, typename Holds>
std::vector<const Entry*> entries_that(const std::vector<Entry>& all, Holds holds) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : all) {
    if (holds(entry)) entries.push_back(&entry);
  }
  return entries;
}

// Returns the entry to use for each level.
template <typename Entry>
std::vector<const Entry*> by_level(const Topology& topology,
                                   const std::vector<const Entry*>& entries) {
  std::vector<const Entry*> chosen;
  for (std::size_t rank = 0; rank <= topology.levels.size(); ++rank)
    chosen.push_back(answering(topology, entries, rank));
  return chosen;
}

std::vector<CrowdPoint> ascending(std::vector<CrowdPoint> points) {
  std::sort(points.begin(), points.end(),
            [](const CrowdPoint& a, const CrowdPoint& b) { return a.copiers < b.copiers; });
  return points;
}

std::vector<std::vector<CrowdPoint>> copies_by_level(const Topology& topology,
                                                     const std::vector<CopyCurve>& copies) {
  const auto alone = entries_that(copies, [](const CopyCurve& copy) { return copy.copiers == 1; });
  const auto crowded =
      entries_that(copies, [](const CopyCurve& copy) { return copy.copiers != 1; });
  const CopyCurve* const one = answering(topology, alone, 0);
  std::vector<std::vector<CrowdPoint>> all;
  for (const CopyCurve* scope : by_level(topology, crowded)) {
    std::vector<CrowdPoint> points;
    if (one != nullptr) points.push_back({1, &one->curve});
    for (const CopyCurve* copy : crowded) {
      if (scope != nullptr && copy->level == scope->level)
        points.push_back({copy->copiers, &copy->curve});
    }
    all.push_back(ascending(std::move(points)));
  }
  return all;
}

}  // namespace

CostModel::CostModel(const Machine& machine)
    : machine_(machine),
      outstanding_misses_(machine::outstanding_misses(machine).per_core),
      index_(machine.topology),
      pair_row_(rows_of_pairs(machine)),
      copies_(copies_by_level(machine.topology, machine.copy)),
      copies_past_caches_(copies_by_level(machine.topology, machine.copy_past_caches)),
      memory_of_level_(by_level(
          machine.topology, entries_that(machine.memory, [](const MemoryCost&) { return true; }))) {
  const Topology& topology = machine.topology;
  for (std::size_t level = 0; level <= topology.levels.size(); ++level)
    cost_of_level_.push_back(find_line(machine, level_name(topology, level)));
  for (std::size_t kind = 0; kind < handoff_of_level_.size(); ++kind) {
    const auto curves = entries_that(machine.handoff, [kind](const HandoffCurve& one) {
      return static_cast<std::size_t>(one.kind) == kind;
    });
    for (const HandoffCurve* const curve : by_level(topology, curves)) {
      const LineCost* const measured =
          curve == nullptr ? nullptr : cost_of_level_[rank_of(topology, curve->level)];
      handoff_of_level_[kind].push_back({curve, measured});
    }
  }
  for (const PathCurve& curve : machine.paths) {
    if (find_path(curve.path) != nullptr) continue;
    Path path{curve.path, {}, {}};
    for (const PathCurve& one : machine.paths) {
      if (one.path == curve.path && one.level.empty())
        path.anywhere.push_back({one.copiers, &one.curve});
    }
    path.anywhere = ascending(std::move(path.anywhere));
    path.of_level = by_level(topology, entries_that(machine.paths, [&](const PathCurve& one) {
                               return one.path == curve.path && !one.level.empty();
                             }));
    paths_.push_back(std::move(path));
  }
}

const CostModel::Path* CostModel::find_path(std::string_view name) const {
  const auto found = std::find_if(paths_.begin(), paths_.end(),
                                  [name](const Path& path) { return path.name == name; });
  return found == paths_.end() ? nullptr : &*found;
}

const LineCost& CostModel::line_cost(int a, int b) const {
  return *cost_of_level_[index_.joining_level(a, b)];
}

double CostModel::line_ns(int from, int to) const {
  return from == to ? 0 : line_ns(from, to, line_cost(from, to));
}

double CostModel::line_ns(int from, int to, const LineCost& cost) const {
  const int row = pair_row_[static_cast<std::size_t>(from)];
  const int column = pair_row_[static_cast<std::size_t>(to)];
  if (row == no_row || column == no_row || row == column) return cost.one_way_ns;
  const std::size_t n = machine_.pairs->pus.size();
  return machine_.pairs
      ->one_way_ns[static_cast<std::size_t>(row) * n + static_cast<std::size_t>(column)];
}

// Scales the pair's latency by the ratio, at its level, of a line that both sides write to one line
// per side.
double CostModel::shared_line_ns(int a, int b) const {
  return a == b ? 0 : shared_line_ns(a, b, line_cost(a, b));
}

double CostModel::shared_line_ns(int a, int b, const LineCost& cost) const {
  return line_ns(a, b, cost) * cost.shared_ns / cost.one_way_ns;
}

double CostModel::line_to_readers_ns(int from, std::span<const int> readers) const {
  Queue queue;
  for (const int reader : readers) {
    if (reader == from) continue;
    const LineCost& cost = line_cost(from, reader);
    queue.join(line_ns(from, reader, cost), cost.reader_step_ns);
  }
  return queue.ns();
}

double CostModel::flags_ns(std::span<const int> writers, int reader, int flags_a_line) const {
  const auto per_line = static_cast<std::size_t>(flags_a_line);
  Queue lines;
  for (std::size_t start = 0; start < writers.size(); start += per_line) {
    Queue queue;
    double fetch_ns = 0;
    for (const int writer : writers.subspan(start, std::min(per_line, writers.size() - start))) {
      if (writer == reader) continue;
      const LineCost& cost = line_cost(writer, reader);
      queue.join(line_ns(writer, reader, cost), cost.writer_step_ns);
      fetch_ns = std::max(fetch_ns, load_step_ns(writer, reader, cost));
    }
    lines.join(queue.ns(), fetch_ns);
  }
  return lines.ns();
}

// Each store occupies one of the core's buffers until the reader has given up the line, which takes
// as long as passing on a line that both sides write.
double CostModel::queued_stores_ns(int writer, std::span<const int> readers) const {
  const auto stores = static_cast<double>(readers.size());
  const double buffers = outstanding_misses_;
  if (stores <= buffers) return 0;
  double all_ns = 0;
  for (const int reader : readers) all_ns += shared_line_ns(writer, reader);
  const double waiting = (stores - buffers) / stores;
  return waiting * all_ns / buffers;
}

double CostModel::load_step_ns(int writer, int reader) const {
  return writer == reader ? 0 : load_step_ns(writer, reader, line_cost(writer, reader));
}

double CostModel::load_step_ns(int writer, int reader, const LineCost& cost) const {
  return std::max(cost.load_step_ns.value_or(cost.reader_step_ns),
                  shared_line_ns(writer, reader, cost) / outstanding_misses_);
}

double CostModel::own_copy_ns(const CopiesByLevel& copies, double bytes, std::string_view level,
                              int copiers) const {
  return crowd_time_ns(copies[rank_of(machine_.topology, level)], bytes, copiers);
}

// Returns the time of one load, plus that of the bytes at the rate of the largest measured working
// set.
double CostModel::memory_ns(const Copy& copy, std::size_t rank) const {
  double largest_bytes = 1;
  for (const CopyCurve& curve : machine_.copy) {
    largest_bytes = std::max(largest_bytes, curve.curve.bytes.back());
  }
  const double largest_ns = own_copy_ns(copies_, largest_bytes, copy.others_share, copy.others + 1);
  const double stream_ns = largest_ns * copy.bytes / largest_bytes;
  const MemoryCost* cost = memory_of_level_[rank];
  return cost == nullptr ? stream_ns : cost->load_ns + stream_ns * cost->copy_factor;
}

CostModel::Limits CostModel::limits_of_source(const Copy& copy) const {
  switch (copy.source) {
    case Source::own_cache:
      return {};
    case Source::peer_wrote:
      return {handoff_ns(copy.bytes, copy.peer, copy.copier, copy.read), 0};
    case Source::near_memory:
      return {0, memory_ns(copy, 0)};
    case Source::far_memory:
      return {0, memory_ns(copy, copy.copier == copy.peer
                                     ? 0
                                     : index_.joining_level(copy.copier, copy.peer))};
  }
  return {};
}

CostModel::Limits CostModel::limits_of_target(const Copy& copy) const {
  switch (copy.target) {
    case Target::own_cache:
      return {};
    case Target::peer_cached:
      return {handoff_ns(copy.bytes, copy.copier, copy.peer, copy.write), 0};
    case Target::memory:
      return {0, is_measured(copy.target) ? 0 : memory_ns(copy, 0)};
  }
  return {};
}

double CostModel::copy_ns(const Copy& copy) const {
  if (copy.bytes <= 0) return 0;
  const CopiesByLevel& copies = is_measured(copy.target) ? copies_past_caches_ : copies_;
  const double own_ns = own_copy_ns(copies, copy.bytes, copy.others_share, copy.others + 1);
  const Limits source = limits_of_source(copy);
  const Limits target = limits_of_target(copy);
  // Not a sum, because the memory curve already includes a stream in and a stream out.
  const double memory_ns = std::max(source.memory_ns, target.memory_ns);
  return std::max({own_ns, memory_ns, handoffs_ns(copy, source.handoff_ns, target.handoff_ns)});
}

namespace {

double cube(double side) { return side * side * side; }

// Uses Newton's method from above, with only operations whose rounding IEEE 754 defines, so that
// predictions do not depend on the math library.
double cube_root(double volume) {
  if (volume <= 0) return 0;
  if (volume == std::numeric_limits<double>::infinity()) return volume;
  int power = 0;
  std::frexp(volume, &power);
  double side = std::ldexp(1.0, power / 3 + 1);
  constexpr int steps =
      9;  // each doubles the number of correct digits; the start is within a factor of four
  for (int step = 0; step < steps; ++step) side -= (side - volume / (side * side)) / 3;
  return side;
}

// Returns the time of two concurrent activities: longer than the longer one and shorter than their
// sum. Adding the cubes gave the best predictions.
double side_by_side_ns(double one_ns, double other_ns) {
  return cube_root(cube(one_ns) + cube(other_ns));
}
double besides_ns(double both_ns, double one_ns) {
  return cube_root(std::max(0.0, cube(both_ns) - cube(one_ns)));
}

}  // namespace

// Cache lines from a peer and cache lines to it share one queue, so their times add up. Each of the
// two curves, however, also includes the other side of a copy, in the copier's own cache.
double CostModel::handoffs_ns(const Copy& copy, double source_ns, double target_ns) const {
  if (source_ns <= 0 || target_ns <= 0) return source_ns + target_ns;
  const double own_ns = own_copy_ns(copies_, copy.bytes, copy.others_share, 1);
  const double lines_ns = besides_ns(source_ns, own_ns) + besides_ns(target_ns, own_ns);
  return std::max({source_ns, target_ns, side_by_side_ns(lines_ns, own_ns)});
}

double CostModel::handoff_ns(double bytes, int from, int to, HandoffKind kind) const {
  if (bytes <= 0 || from == to) return 0;
  const std::size_t level = index_.joining_level(from, to);
  const auto& [curve, measured] = handoff_of_level_[static_cast<std::size_t>(kind)][level];
  if (curve == nullptr) return std::numeric_limits<double>::infinity();
  const double ns = time_at(curve->curve, bytes);
  // If only a nearer level was measured, scales its curve by the ratio of the line latencies.
  const double dearer =
      measured == nullptr ? 1
                          : std::max(1.0, cost_of_level_[level]->one_way_ns / measured->one_way_ns);
  // No transfer between cores takes less time than one cache line; a write alone transfers nothing.
  return facts_of(kind).part == HandoffPart::write ? ns * dearer
                                                   : std::max(line_ns(from, to), ns * dearer);
}

double CostModel::path_ns(std::string_view path, double bytes, int others) const {
  const Path* const known = find_path(path);
  if (known == nullptr || known->anywhere.empty()) return std::numeric_limits<double>::infinity();
  return crowd_time_ns(known->anywhere, bytes, others + 1);
}

double CostModel::path_ns(std::string_view path, double bytes, int others, int reader,
                          int owner) const {
  const double anywhere_ns = path_ns(path, bytes, others);
  const Path* const known = find_path(path);
  const PathCurve* const curve =
      known == nullptr ? nullptr : known->of_level[index_.joining_level(reader, owner)];
  return curve == nullptr || !std::isfinite(anywhere_ns)
             ? anywhere_ns
             : anywhere_ns * time_at(curve->curve, bytes) /
                   path_ns(path, bytes, curve->copiers - 1);
}

double CostModel::system_ns(SystemCall call) const {
  const auto found = std::find_if(machine_.system.begin(), machine_.system.end(),
                                  [call](const SystemCost& cost) { return cost.call == call; });
  return found == machine_.system.end() ? std::numeric_limits<double>::infinity() : found->ns;
}

double CostModel::message_ns(double bytes, int others) const {
  double best_ns = std::numeric_limits<double>::infinity();
  const double senders = others + 1;
  for (const Network& network : machine_.networks) {
    const double alone_ns = time_at(network.curve, bytes);
    const double fixed_ns = time_at(network.curve, 0);
    const double shared_ns = fixed_ns + senders * bytes / network.node_gb_per_s;
    best_ns = std::min(best_ns, std::max(alone_ns, shared_ns) + others * network.gap_ns);
  }
  return best_ns;
}

namespace {

const ArrayCost* find_measured(const Machine& machine, ArrayPlace place) {
  const auto found =
      std::find_if(machine.arrays.begin(), machine.arrays.end(), [place](const ArrayCost& cost) {
        return cost.place == place && cost.origin == Origin::measured;
      });
  return found == machine.arrays.end() ? nullptr : &*found;
}

}  // namespace

std::optional<HeapCost> heap_cost(const Machine& machine) {
  const ArrayCost* const own = find_measured(machine, ArrayPlace::program);
  const ArrayCost* const shared = find_measured(machine, ArrayPlace::heap);
  if (own == nullptr || shared == nullptr) return std::nullopt;
  return HeapCost{shared->load_ns / own->load_ns, shared->stream_ns / own->stream_ns,
                  std::max(own->spread, shared->spread)};
}

}  // namespace huddle::machine
