// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/published_machine.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "model/machine/locate.h"
#include "tools/calibrate/inferred_topology.h"
#include "tools/calibrate/statistics.h"

namespace huddle::calibrate {
namespace {

using machine::LineCost;
using machine::Machine;
using machine::Origin;
using machine::Topology;

// Published latencies have more digits than their spread justifies.
double in_tenths(double ns) { return std::round(ns * 10) / 10; }

// Returns the ratio of a line that both sides write to one line each.
double shared_ratio(const LineCost& cost) { return cost.shared_ns / cost.one_way_ns; }

const LineCost* find_line(const Machine& machine, const std::string& level) {
  const auto found = std::find_if(machine.line.begin(), machine.line.end(),
                                  [&](const LineCost& cost) { return cost.level == level; });
  return found == machine.line.end() ? nullptr : &*found;
}

// Two hardware threads of one core are closer than two cores that share an L2, the nearest that
// cores can be.
double siblings_below_ns(PublishedLine line) {
  const LineCost cost = machine::generic_line("l2");
  return line == PublishedLine::shared ? cost.shared_ns : cost.one_way_ns;
}

class Maker {
 public:
  Maker(const LatencyMatrix& matrix, const PublishedFacts& facts, const InferredTopology& inferred)
      : matrix_(matrix),
        facts_(facts),
        assumed_sockets_(inferred.assumed_sockets),
        machine_(machine::generic_machine(inferred.topology)) {}

  Machine make() {
    machine_.name = facts_.name;
    machine_.provenance.method = method_text();
    machine_.provenance.sources = {facts_.source};
    publish_lines();
    machine_.handoff = machine::generic_handoffs(machine_.line);
    round_handoffs();
    if (facts_.like != nullptr) take_curves(*facts_.like);
    if (!facts_.only_levels) publish_pairs();
    validate(machine_);
    return std::move(machine_);
  }

 private:
  std::string method_text() const;
  bool is_untypical(std::size_t level, int pu, const machine::GroupIndex& index) const;
  std::map<std::string, std::vector<double>> latencies_by_level() const;
  const LineCost& similar_line(const LineCost& generic) const;
  void publish_lines();
  void publish_pairs();
  void round_handoffs();
  void scale_handoffs(const std::vector<LineCost>& from);
  void take_curves(const Machine& like);
  bool has_level(const std::string& level) const {
    return level == machine::whole_machine ||
           machine::find_level(machine_.topology, level) != nullptr;
  }
  template <class Entry>
  void take(std::vector<Entry>& ours, const std::vector<Entry>& theirs) const;

  const LatencyMatrix& matrix_;
  const PublishedFacts& facts_;
  const std::vector<machine::CpuSet>& assumed_sockets_;
  Machine machine_;
};

std::string Maker::method_text() const {
  const bool is_shared = facts_.line == PublishedLine::shared;
  return fmt::format(
      "published core-to-core latencies: medians per level of half a round trip on {}; {} by the "
      "ratio of {}, and all other figures are estimates ({})",
      is_shared ? "a cache line that both sides write" : "one cache line per side",
      is_shared ? "one_way_ns follows" : "shared_ns follows",
      facts_.like == nullptr ? "generic machines" : facts_.like->name,
      facts_.like == nullptr ? "generic figures of the topology"
                             : fmt::format("those of {}, else generic", facts_.like->name));
}

// Returns whether both hardware threads are in different parts of a socket that was assumed.
bool Maker::is_untypical(std::size_t level, int pu, const machine::GroupIndex& index) const {
  const auto& levels = machine_.topology.levels;
  if (level == levels.size()) return false;
  const machine::CpuSet& group =
      levels[level].groups[static_cast<std::size_t>(index.group(level, pu))];
  return std::find(assumed_sockets_.begin(), assumed_sockets_.end(), group) !=
         assumed_sockets_.end();
}

std::map<std::string, std::vector<double>> Maker::latencies_by_level() const {
  std::map<std::string, std::vector<double>> by_level;
  const Topology& topology = machine_.topology;
  const machine::GroupIndex index(topology);
  for (std::size_t a = 1; a < matrix_.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const std::size_t level = index.joining_level(static_cast<int>(a), static_cast<int>(b));
      if (is_untypical(level, static_cast<int>(a), index)) continue;
      const bool is_outermost = level == topology.levels.size();
      by_level[is_outermost ? std::string(machine::whole_machine) : topology.levels[level].name]
          .push_back(matrix_.at(a, b));
    }
  }
  return by_level;
}

// Returns the line of the same level of the similar machine, else of its outermost level.
const LineCost& Maker::similar_line(const LineCost& generic) const {
  if (facts_.like == nullptr || facts_.like->line.empty()) return generic;
  const LineCost* same = find_line(*facts_.like, generic.level);
  return same != nullptr ? *same : facts_.like->line.back();
}

// Replaces the generic latencies by the published ones. The costs of further readers and writers
// keep their ratio to the latency.
void Maker::publish_lines() {
  const auto by_level = latencies_by_level();
  const bool is_shared = facts_.line == PublishedLine::shared;
  for (LineCost& cost : machine_.line) {
    const std::vector<double>& published = by_level.at(cost.level);
    const LineCost& similar = similar_line(cost);
    const Summary summary = summarize(published);
    const double ns = summary.median;
    const double one_way_ns = is_shared ? ns / shared_ratio(similar) : ns;
    const double factor = one_way_ns / similar.one_way_ns;
    cost = {cost.level,
            in_tenths(one_way_ns),
            in_tenths(one_way_ns * shared_ratio(similar)),
            in_tenths(similar.reader_step_ns * factor),
            in_tenths(similar.writer_step_ns * factor),
            std::round(summary.spread * 1000) / 1000,
            is_shared ? Origin::estimated : Origin::published,
            Origin::estimated,
            {},
            is_shared ? Origin::published : Origin::estimated};
  }
}

// Keeps one hardware thread per core, because all of a core have its latencies.
void Maker::publish_pairs() {
  machine::LinePairs pairs;
  pairs.pus = machine::first_pu_of_cores(machine_.topology);
  if (pairs.pus.size() < 2) return;
  pairs.sampling = "every pair";
  for (const int a : pairs.pus) {
    for (const int b : pairs.pus) {
      const double ns = matrix_.at(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
      const LineCost& cost =
          *find_line(machine_, std::string(joining_level_name(machine_.topology, a, b)));
      const bool is_shared = facts_.line == PublishedLine::shared;
      pairs.one_way_ns.push_back(a == b ? 0 : in_tenths(is_shared ? ns / shared_ratio(cost) : ns));
    }
  }
  machine_.pairs = std::move(pairs);
}

void Maker::round_handoffs() {
  for (machine::HandoffCurve& handoff : machine_.handoff) {
    for (double& ns : handoff.curve.ns) ns = in_tenths(ns);
  }
}

// Hand-offs move lines, so they are slower or faster in the ratio of the latencies.
void Maker::scale_handoffs(const std::vector<LineCost>& from) {
  for (machine::HandoffCurve& handoff : machine_.handoff) {
    const LineCost* ours = find_line(machine_, handoff.level);
    const auto theirs = std::find_if(from.begin(), from.end(), [&](const LineCost& cost) {
      return cost.level == handoff.level;
    });
    if (ours == nullptr || theirs == from.end()) continue;
    for (double& ns : handoff.curve.ns) ns *= ours->one_way_ns / theirs->one_way_ns;
  }
  round_handoffs();
}

// Replaces the generic entries by those of the similar machine at levels that both have.
template <class Entry>
void Maker::take(std::vector<Entry>& ours, const std::vector<Entry>& theirs) const {
  std::vector<Entry> taken;
  for (Entry entry : theirs) {
    if constexpr (requires { entry.level; }) {
      if (!entry.level.empty() && !has_level(entry.level)) continue;
    }
    if constexpr (requires { entry.copiers; }) {
      if (entry.copiers > machine::core_count(machine_.topology)) continue;
    }
    entry.origin = Origin::estimated;
    taken.push_back(std::move(entry));
  }
  if (!taken.empty()) ours = std::move(taken);
}

// Keeps the generic curve of all cores that copy if the similar machine has none of several on the
// whole machine, because that of fewer cores shows no limit of the memory of all.
void Maker::take_curves(const Machine& like) {
  const std::vector<machine::CopyCurve> generic = machine_.copy;
  take(machine_.copy, like.copy);
  const auto is_of_all = [](const machine::CopyCurve& copy) {
    return copy.copiers > 1 && copy.level == machine::whole_machine;
  };
  if (std::none_of(machine_.copy.begin(), machine_.copy.end(), is_of_all)) {
    std::copy_if(generic.begin(), generic.end(), std::back_inserter(machine_.copy), is_of_all);
  }
  take(machine_.copy_past_caches, like.copy_past_caches);
  take(machine_.handoff, like.handoff);
  scale_handoffs(like.line);
  take(machine_.memory, like.memory);
  take(machine_.paths, like.paths);
  take(machine_.system, like.system);
}

}  // namespace

PublishedMachine published_machine(const LatencyMatrix& matrix, const PublishedFacts& facts) {
  TopologyFacts topology_facts{facts.cpu_model, facts.sockets, siblings_below_ns(facts.line)};
  if (topology_facts.cpu_model.empty() && facts.like != nullptr) {
    topology_facts.cpu_model = facts.like->topology.cpu_model;
  }
  InferredTopology inferred = infer_topology(matrix, topology_facts);
  return {Maker(matrix, facts, inferred).make(), std::move(inferred.notes)};
}

}  // namespace huddle::calibrate
