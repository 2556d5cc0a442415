// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "model/machine/machine.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/handoff_probe.h"
#include "tools/calibrate/line_probe.h"
#include "tools/calibrate/path_probe.h"

namespace huddle::calibrate {
namespace {

// A measurement lasts many time slices of the scheduler (3 to 4 ms each), so that another program
// on the same core is noticed. A quick one lasts two time slices.
constexpr double usual_seconds = 0.06;
constexpr double quick_seconds = 0.008;
// Used for a scan of all pairs, which only has to assign them to clusters.
constexpr double scan_seconds = 0.0015;
constexpr std::size_t usual_samples = 32;
constexpr std::size_t scan_samples = 8;
// Used for copies of hundreds of megabytes: the minimum for a median and a spread.
constexpr std::size_t long_samples = 9;
// Time to start a measurement on sleeping threads.
constexpr double start_seconds = 0.0003;

constexpr std::size_t pairs_a_level = 6;
constexpr std::size_t quick_pairs_a_level = 2;
constexpr std::size_t most_cluster_pairs = 64;

// Rates of a slow machine, in bytes per second, used for planning.
constexpr double planned_copy_rate = 4e9;
constexpr double planned_touch_rate = 2e9;
constexpr double planned_fork_seconds = 0.005;
// Time per cache line to lay out the pointer chase, which stores to the lines in random order.
constexpr double planned_line_seconds = 200e-9;
// All buffers together use at most 1 / share_of_memory of the free memory.
constexpr std::size_t share_of_memory = 4;

const std::vector<std::size_t> handoff_sizes = {256,      1 << 10,   4 << 10, 16 << 10,
                                                64 << 10, 256 << 10, 1 << 20, 4 << 20};
const std::vector<std::size_t> path_sizes = {64,       1 << 10,   4 << 10, 16 << 10,
                                             64 << 10, 256 << 10, 1 << 20, 4 << 20};
constexpr std::size_t most_chase_bytes = std::size_t{512} << 20;
constexpr std::size_t quick_chase_bytes = std::size_t{64} << 20;

std::string group_text(std::size_t cores, const std::string& level) {
  if (level == machine::whole_machine) return fmt::format("{} cores", cores);
  return fmt::format("{} cores of one {}", cores, level);
}

// Returns the larger of the requested time and the time for the minimum number of samples.
double seconds_of_copy(std::size_t bytes, const Extent& extent) {
  const double least = static_cast<double>(extent.least * bytes) / planned_copy_rate;
  return start_seconds + std::max(extent.seconds, least);
}

// Returns pairs of a reader and the core that writes its data: the next reader or, for a single
// reader, another core if there is one.
std::vector<Pair> with_peers(const std::vector<int>& readers, const std::vector<int>& all) {
  if (readers.size() == 1) {
    const int peer = readers.front() == all.front() ? all.back() : all.front();
    return {{readers.front(), peer}};
  }
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    pairs.emplace_back(readers[i], readers[(i + 1) % readers.size()]);
  }
  return pairs;
}

}  // namespace

Extent Planner::extent(double full, double quick, std::size_t least) const {
  Extent extent;
  extent.seconds = request_.quick ? quick : full;
  extent.least = least;
  return extent;
}

std::vector<std::size_t> Planner::sizes(const std::vector<std::size_t>& all) const {
  return request_.quick ? thinned_sizes(all) : all;
}

std::vector<std::string> Planner::meeting_levels() const {
  std::vector<std::string> levels;
  for (const LevelPairs& level : pairs_by_level(topology_, machine::CpuSet(pus_), 1)) {
    levels.push_back(level.level);
  }
  return levels;
}

Step Planner::scan_or_measure_pairs() const {
  Step step;
  step.kind = StepKind::line_pairs;
  step.pairs = all_pairs(pus_);
  const bool scan = pus_.size() > most_cores_pair_by_pair;
  step.name = scan ? fmt::format("line latency, scan of {} pairs of cores", step.pairs.size())
                   : "line latency, every pair of cores";
  step.extent = scan ? extent(scan_seconds, scan_seconds, scan_samples)
                     : extent(usual_seconds, quick_seconds, usual_samples);
  // With many pairs, each measurement is shorter, but still lasts several time slices.
  constexpr std::size_t many_pairs = 100;
  constexpr double seconds_of_many = 0.02;
  if (!scan && !request_.quick && step.pairs.size() > many_pairs) {
    step.extent.seconds = seconds_of_many;
  }
  step.seconds.assign(step.pairs.size(), start_seconds + step.extent.seconds);
  return step;
}

std::vector<Step> Planner::lines() const {
  std::vector<Step> steps;
  // A quick run on many cores has no time for all pairs: pairs of each level represent them.
  const bool many = pus_.size() > most_cores_pair_by_pair;
  if (pus_.size() > 1 && !(many && request_.quick)) steps.push_back(scan_or_measure_pairs());
  if (many && !request_.quick) {
    Step step;
    step.kind = StepKind::line_clusters;
    step.name = "line latency, pairs of each cluster";
    step.extent = extent(usual_seconds, quick_seconds, usual_samples);
    step.seconds.assign(most_cluster_pairs, start_seconds + step.extent.seconds);
    steps.push_back(step);
  }
  const std::size_t most = request_.quick ? quick_pairs_a_level : pairs_a_level;
  for (const LevelPairs& level : pairs_by_level(topology_, request_.allowed, most)) {
    Step step;
    step.kind = StepKind::line_level;
    step.level = level.level;
    step.pairs = level.pairs;
    step.name = fmt::format("line latency, level {}", level.level);
    step.extent = extent(usual_seconds, quick_seconds, usual_samples);
    // Each pair is measured with a cache line per side, and with a shared one.
    step.seconds.assign(2 * level.pairs.size(), start_seconds + step.extent.seconds);
    steps.push_back(step);
  }
  return steps;
}

std::vector<Step> Planner::flags() const {
  std::vector<Step> steps;
  for (const std::string& level : meeting_levels()) {
    Step step;
    step.kind = StepKind::flags;
    step.level = level;
    step.pus = writer_and_readers(topology_, level, fullest_group(topology_, level, pus_),
                                  most_packed_flags);
    constexpr std::size_t least_cores = 3;  // a writer and two readers
    if (step.pus.size() < least_cores) continue;
    step.name = fmt::format("flags, {}", group_text(step.pus.size(), level));
    step.extent = extent(usual_seconds, quick_seconds, usual_samples);
    // Measures one, two, four ... readers, then the same numbers of writers.
    const std::size_t counts = 1 + doubling_to(step.pus.size() - 1).size();
    step.seconds.assign(2 * counts, start_seconds + step.extent.seconds);
    steps.push_back(step);
  }
  return steps;
}

std::size_t Planner::largest_copy(const std::vector<int>& copiers) const {
  const std::size_t sharers = cache_sharers(topology_, copiers);
  const std::size_t most =
      request_.usable_memory_bytes / share_of_memory / 2 / std::max<std::size_t>(1, copiers.size());
  const std::size_t wanted = memory_copy_bytes(topology_, sharers) / (request_.quick ? 2 : 1);
  return std::max(memory::page_bytes(), std::min(wanted, most));
}

Step Planner::copy_step(const std::string& level, const std::vector<int>& copiers) const {
  Step step;
  step.kind = StepKind::copy;
  step.level = level;
  step.pus = copiers;
  step.name = copiers.size() == 1 ? "copy, 1 core alone"
                                  : fmt::format("copy, {}", group_text(copiers.size(), level));
  step.sizes = sizes(copy_sizes(topology_, largest_copy(copiers)));
  step.extent = extent(usual_seconds, quick_seconds, long_samples);
  if (!request_.quick) step.sizes_past_caches = sizes_past_own_caches(topology_, step.sizes);
  for (const auto* sizes : {&step.sizes, &step.sizes_past_caches}) {
    for (const std::size_t size : *sizes) {
      step.seconds.push_back(seconds_of_copy(size, step.extent));
    }
  }
  step.setup_seconds = 2 * static_cast<double>(step.sizes.back()) / planned_touch_rate;
  return step;
}

std::vector<Step> Planner::copies() const {
  const bool has_cores = find_level(topology_, "core") != nullptr;
  std::vector<Step> steps = {
      copy_step(has_cores ? "core" : std::string(machine::whole_machine), {reference_pu(pus_)})};
  const std::vector<std::string> levels = meeting_levels();
  for (const std::string& level : levels) {
    if (request_.quick && level != levels.back()) continue;
    const std::vector<int> group = fullest_group(topology_, level, pus_);
    for (const std::size_t count : doubling_to(group.size())) {
      if (request_.quick && count != group.size()) continue;
      steps.push_back(copy_step(level, spread_over(group, count)));
    }
  }
  return steps;
}

std::vector<Step> Planner::handoffs() const {
  std::vector<Step> steps;
  for (const LevelPairs& level : pairs_by_level(topology_, machine::CpuSet(pus_), 1)) {
    Step step;
    step.kind = StepKind::handoff;
    step.level = level.level;
    step.pairs = level.pairs;
    step.name = fmt::format("hand-off, level {}", level.level);
    step.sizes = sizes(handoff_sizes);
    step.extent = extent(usual_seconds, quick_seconds, usual_samples);
    step.seconds.assign(copy_method_curves().size() * step.sizes.size(),
                        start_seconds + step.extent.seconds);
    steps.push_back(step);
  }
  return steps;
}

Step Planner::memory_step(const machine::NumaNode* node) const {
  Step step;
  step.kind = StepKind::memory;
  step.pus = {reference_pu(pus_)};
  step.numa_node = node == nullptr ? memory::PageBuffer::where_touched : node->number;
  // In a full run, larger than the largest cache if there is enough memory.
  const std::size_t wanted =
      std::max(std::min(most_chase_bytes, 4 * memory_copy_bytes(topology_, 1) / 2),
               beyond_caches(topology_));
  const std::size_t bytes = std::min<std::size_t>(
      request_.quick ? quick_chase_bytes : wanted,
      std::max<std::size_t>(memory::page_bytes(), request_.usable_memory_bytes / share_of_memory));
  step.sizes = {bytes};
  step.extent = extent(usual_seconds, quick_seconds, usual_samples);
  // The step measures loads and, if there are several nodes, a copy from the node.
  step.seconds = {start_seconds + step.extent.seconds};
  if (node != nullptr) {
    step.extent.least = long_samples;
    step.seconds.push_back(seconds_of_copy(bytes / 2, step.extent));
  }
  step.setup_seconds = static_cast<double>(bytes) / planned_touch_rate +
                       static_cast<double>(bytes) / 64 * planned_line_seconds;
  return step;
}

// Returns the level that the hardware threads of a node share. Topologies in which only one node
// has cores have no level "numa"; the level then has another name.
std::string Planner::level_of_own_node(const machine::NumaNode& node) const {
  if (find_level(topology_, "numa") != nullptr) return "numa";
  const int first = node.cpus.first();
  const int last = node.cpus.cpus().back();
  return first == last ? "core" : std::string(joining_level_name(topology_, first, last));
}

// Returns the nodes with cores, ordered by distance from the reference core, own node first.
std::vector<const machine::NumaNode*> Planner::nearest_nodes(const machine::NumaNode* home) const {
  std::vector<const machine::NumaNode*> nodes;
  for (const machine::NumaNode& node : topology_.numa) {
    if (&node == home || (!node.memory_only && !node.cpus.empty())) nodes.push_back(&node);
  }
  const machine::GroupIndex index(topology_);
  const auto distance = [&](const machine::NumaNode* node) {
    return node == home ? 0 : 1 + index.joining_level(reference_pu(pus_), node->cpus.first());
  };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const auto* a, const auto* b) { return distance(a) < distance(b); });
  return nodes;
}

// Measures one node for each level that the reference core may share with a node: its own node, one
// of another socket, and so on.
std::vector<Step> Planner::memory() const {
  std::vector<Step> steps;
  if (topology_.numa.size() < 2) {
    steps.push_back(memory_step(nullptr));
    steps.back().level = machine::whole_machine;
    steps.back().name = "memory latency";
    return steps;
  }
  const machine::NumaNode* home = home_node(topology_, reference_pu(pus_));
  std::set<std::string> seen;
  for (const machine::NumaNode* node : nearest_nodes(home)) {
    const std::string level =
        home != nullptr && node == home
            ? level_of_own_node(*node)
            : std::string(joining_level_name(topology_, reference_pu(pus_), node->cpus.first()));
    if (!seen.insert(level).second) continue;
    steps.push_back(memory_step(node));
    steps.back().home = node == home;
    steps.back().level = level;
    steps.back().name = fmt::format("memory of NUMA node {} (level {})", node->number, level);
  }
  return steps;
}

Step Planner::path_step(const single_copy::PeerPath& path, std::vector<int> readers,
                        std::vector<Pair> pairs) const {
  const std::size_t copiers = readers.size();
  Step step;
  step.kind = StepKind::path;
  step.path = path;
  step.pus = std::move(readers);
  step.pairs = std::move(pairs);
  step.name =
      fmt::format("{}, {}", path.call, copiers == 1 ? "1 core" : group_text(copiers, "machine"));
  const std::size_t most =
      std::max(path_sizes.front(),
               request_.usable_memory_bytes / share_of_memory / (path_buffers * copiers));
  step.sizes = sizes(path_sizes);
  std::erase_if(step.sizes, [most](std::size_t size) { return size > most; });
  step.extent = extent(usual_seconds, quick_seconds, usual_samples);
  for (const std::size_t size : step.sizes) {
    // A write of the peer's data precedes every read.
    step.seconds.push_back(2 * seconds_of_copy(size, step.extent));
  }
  // The peers are started one after the other; all cores fill their own buffers at the same time.
  step.setup_seconds =
      static_cast<double>(copiers) *
          (planned_fork_seconds + static_cast<double>(step.sizes.back()) / planned_touch_rate) +
      2 * static_cast<double>(step.sizes.back()) / planned_touch_rate;
  return step;
}

std::vector<Step> Planner::steps_of(const single_copy::PeerPath& path) const {
  const auto spread = [&](std::size_t copiers) {
    const std::vector<int> readers = spread_over(pus_, copiers);
    return path_step(path, readers, with_peers(readers, pus_));
  };
  std::vector<Step> steps = {spread(1)};
  // Each copier needs a process of its own.
  constexpr std::size_t most_copiers = 64;
  constexpr std::size_t most_quick_copiers = 16;
  const std::size_t most =
      std::min(pus_.size(), request_.quick ? most_quick_copiers : most_copiers);
  for (const std::size_t copiers : doubling_to(most)) {
    if (request_.quick && copiers != most) continue;
    steps.push_back(spread(copiers));
  }
  // Adds a step per level, because the distance of the peer matters if there are several levels.
  const auto levels = pairs_by_level(topology_, machine::CpuSet(pus_), 1);
  if (levels.size() <= 1 || request_.quick) return steps;
  for (const LevelPairs& level : levels) {
    const Pair pair = level.pairs.front();
    steps.push_back(path_step(path, {pair.first}, {pair}));
    steps.back().level = level.level;
    steps.back().name = fmt::format("{}, level {}", path.call, level.level);
  }
  return steps;
}

std::vector<Step> Planner::paths() const {
  std::vector<Step> steps;
  for (const single_copy::PeerPath& path : request_.paths) {
    for (Step& step : steps_of(path)) steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<Step> Planner::system() const {
  Step step;
  step.kind = StepKind::system;
  step.name = "system calls";
  // The second hardware thread is that of the thread that is woken, far from the first one if
  // possible.
  step.pus = {reference_pu(pus_), pus_[pus_.size() / 4]};
  step.extent = extent(usual_seconds, quick_seconds, usual_samples);
  step.seconds.assign(machine::system_call_names.size(), start_seconds + step.extent.seconds);
  return {step};
}

std::vector<Step> Planner::arrays() const {
  Step step;
  step.kind = StepKind::arrays;
  step.name = "arrays, private and in the shared heap";
  step.pus = {reference_pu(pus_)};
  // The arrays have far more pages than the TLB has entries.
  constexpr std::size_t bytes = std::size_t{256} << 20;
  const std::size_t places = machine::array_place_names.size();
  step.sizes = {std::clamp<std::size_t>(request_.usable_memory_bytes / share_of_memory / places,
                                        memory::page_bytes(),
                                        request_.quick ? quick_chase_bytes : bytes)};
  step.extent = extent(usual_seconds, quick_seconds, usual_samples);
  // Each place is measured with random loads and with a stream.
  step.seconds.assign(2 * places, start_seconds + step.extent.seconds);
  step.setup_seconds = static_cast<double>(places * step.sizes.front()) / planned_touch_rate;
  return {step};
}

std::vector<Step> Planner::lines_again() const {
  Step step;
  step.kind = StepKind::line_again;
  step.name = "line latency, second time";
  step.extent = extent(usual_seconds, quick_seconds, usual_samples);
  for (const LevelPairs& level : pairs_by_level(topology_, request_.allowed, 1)) {
    step.pairs.push_back(level.pairs.front());
  }
  step.seconds.assign(step.pairs.size(), start_seconds + step.extent.seconds);
  if (step.pairs.empty()) return {};
  return {step};
}

}  // namespace huddle::calibrate
