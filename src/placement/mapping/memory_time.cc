// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/memory_time.h"

#include <algorithm>
#include <utility>

#include "common/arithmetic.h"

namespace huddle::mapping {
namespace {

// A copy reads each byte and writes it.
constexpr double bytes_per_copied_byte = 2;

// Returns the largest measured copy size, which is far larger than the caches.
double largest_bytes(const machine::Machine& machine) {
  double bytes = 0;
  for (const machine::CopyCurve& copy : machine.copy) {
    bytes = std::max(bytes, copy.curve.bytes.back());
  }
  return bytes;
}

}  // namespace

std::set<std::string> contended_levels(const machine::Machine& machine) {
  std::set<std::string> levels;
  for (const machine::CopyCurve& copy : machine.copy) {
    if (copy.copiers > 1) levels.insert(copy.level);
  }
  return levels;
}

MemoryTimes::MemoryTimes(const machine::CostModel& model, const SlotTree& tree,
                         const MemoryTraffic& traffic, const std::vector<int>& observed,
                         Pages pages)
    : tree_(tree), pages_(pages), farther_(tree.levels().size(), 1) {
  find_groups(model, contended_levels(model.machine()));
  for (std::size_t v = 0; v < traffic.bytes.size(); ++v) {
    const double working_set = traffic.working_set_bytes.empty() ? 0 : traffic.working_set_bytes[v];
    streams_.push_back(
        {traffic.bytes[v] / bytes_per_copied_byte, 0, observed[v], curves_of(model, working_set)});
  }
  if (pages == Pages::stay) find_distances(model);
  find_activities(traffic.seconds, observed);
}

void MemoryTimes::find_distances(const machine::CostModel& model) {
  for (const Object& object : tree_.objects()) {
    if (object.is_leaf()) continue;
    const auto slot_below = [&](std::size_t child) {
      return tree_.slots()[at(tree_.objects()[at(object.children[child])].first)];
    };
    const Slot here = slot_below(0);
    const Slot there = slot_below(1);
    if (here.node != there.node) continue;
    machine::Copy copy{.bytes = largest_bytes(model.machine()),
                       .copier = here.pu,
                       .peer = there.pu,
                       .source = machine::Source::near_memory};
    const double near_ns = model.copy_ns(copy);
    copy.source = machine::Source::far_memory;
    farther_[at(object.level)] = model.copy_ns(copy) / near_ns;
  }
}

void MemoryTimes::find_groups(const machine::CostModel& model,
                              const std::set<std::string>& levels) {
  const machine::Topology& topology = model.machine().topology;
  const machine::GroupIndex index(topology);
  for (std::size_t level = 0; level <= topology.levels.size(); ++level) {
    const bool is_machine = level == topology.levels.size();
    const std::string name(is_machine ? machine::whole_machine : topology.levels[level].name);
    if (!levels.contains(name)) continue;
    levels_.push_back(name);
    std::map<std::pair<int, int>, int> known;  // by node and group within it
    std::vector<int> group_of_slot;
    for (int slot = 0; slot < tree_.size(); ++slot) {
      const Slot& where = tree_.slots()[at(slot)];
      int within = is_machine ? 0 : index.group(level, where.pu);
      if (within == machine::GroupIndex::no_group) within -= 1 + slot;  // a group of its own
      const auto [found, is_new] =
          known.try_emplace({where.node, within}, static_cast<int>(slots_of_group_.size()));
      if (is_new) slots_of_group_.emplace_back();
      slots_of_group_[at(found->second)].push_back(slot);
      group_of_slot.push_back(found->second);
    }
    group_of_slot_.push_back(std::move(group_of_slot));
  }
  for (const auto& slots : slots_of_group_) most_copiers_ = std::max(most_copiers_, slots.size());
}

// Returns the times per copied byte for this working set: by level, then by number of copiers.
const std::vector<double>* MemoryTimes::curves_of(const machine::CostModel& model,
                                                  double working_set_bytes) {
  const auto [found, is_new] = curves_.try_emplace(working_set_bytes);
  if (!is_new) return &found->second;
  const double copied_bytes = working_set_bytes / bytes_per_copied_byte;
  const double largest = largest_bytes(model.machine());
  const bool is_cached = copied_bytes > 0 && copied_bytes < largest;
  const int pu = tree_.slots().front().pu;
  machine::Copy copy{
      .bytes = is_cached ? copied_bytes : largest,
      .copier = pu,
      .peer = pu,
      .source = is_cached ? machine::Source::own_cache : machine::Source::near_memory};
  for (const std::string& level : levels_) {
    copy.others_share = level;
    found->second.push_back(0);  // without copiers
    for (std::size_t copiers = 1; copiers <= most_copiers_; ++copiers) {
      copy.others = static_cast<int>(copiers) - 1;
      found->second.push_back(model.copy_ns(copy) / copy.bytes);
    }
  }
  return &found->second;
}

// An element that streamed all the time was slowed down by the others, so that its rate depends on
// the placement; one that streamed less often may be able to keep its rate. Starts from elements
// that stream all the time, and lowers their activities until they agree with the observed rates:
// the highest activities that do.
void MemoryTimes::find_activities(double seconds, const std::vector<int>& observed) {
  // Each step lowers the activities, so that ending early overestimates them.
  constexpr int most_steps = 100;
  constexpr double precision = 1e-6;
  for (Stream& stream : streams_) stream.activity = stream.copied_bytes > 0 ? 1 : 0;
  double change = 1;
  for (int step = 0; step < most_steps && change > precision; ++step) {
    const std::vector<double> loads = this->loads(observed);
    change = 0;
    for (std::size_t v = 0; v < streams_.size(); ++v) {
      const double ns = element_ns(streams_[v], observed[v], loads);
      const double activity = std::min(1.0, ns / (seconds * ns_per_s));
      change = std::max(change, streams_[v].activity - activity);
      streams_[v].activity = activity;
    }
  }
}

// Interpolates the time per byte linearly between whole numbers of copiers.
double MemoryTimes::element_ns(const Stream& stream, int slot,
                               const std::vector<double>& loads) const {
  if (stream.copied_bytes <= 0) return 0;
  double most = 0;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const double others = loads[at(group_of_slot_[level][at(slot)])] - stream.activity;
    const double copiers = std::clamp(1 + others, 1.0, static_cast<double>(most_copiers_));
    const auto below = static_cast<std::size_t>(copiers);
    const std::size_t above = std::min(below + 1, most_copiers_);
    const double* const times = stream.ns_per_byte->data() + level * (most_copiers_ + 1);
    const double part = copiers - static_cast<double>(below);
    most = std::max(most, times[below] + part * (times[above] - times[below]));
  }
  const bool is_at_home = !pages_stay() || stream.home == slot;
  return stream.copied_bytes * most *
         (is_at_home ? 1 : farther_[at(tree_.level(stream.home, slot))]);
}

std::vector<double> MemoryTimes::loads(const std::vector<int>& mapping) const {
  std::vector<double> loads(slots_of_group_.size(), 0);
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    for (const auto& group : group_of_slot_)
      loads[at(group[at(mapping[v])])] += streams_[v].activity;
  }
  return loads;
}

double MemoryTimes::ns(const std::vector<int>& mapping) const {
  const std::vector<double> loads = this->loads(mapping);
  double sum = 0;
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    sum += element_ns(streams_[v], mapping[v], loads);
  }
  return sum;
}

double MemoryTimes::gb_per_s(const std::vector<int>& mapping) const {
  const std::vector<double> loads = this->loads(mapping);
  double sum = 0;
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    const double ns = element_ns(streams_[v], mapping[v], loads);
    sum += ns > 0 ? streams_[v].copied_bytes / ns : 0;
  }
  return sum;
}

// Returns the time of all elements whose paths an exchange between these slots affects: those in
// the outermost groups that contain only one of the two slots.
double MemoryLoads::ns_around(int from, int to, const std::vector<int>& occupant,
                              long long& budget) const {
  std::size_t level = times_.levels_.size();
  while (level > 0 &&
         times_.group_of_slot_[level - 1][at(from)] == times_.group_of_slot_[level - 1][at(to)]) {
    --level;
  }
  double sum = 0;
  const auto add = [&](int slot) {
    const int element = occupant[at(slot)];
    if (element >= 0) sum += times_.element_ns(times_.streams_[at(element)], slot, loads_);
  };
  for (const int slot : {from, to}) {
    if (level == 0) {
      add(slot);
      continue;
    }
    const auto& slots = times_.slots_of_group_[at(times_.group_of_slot_[level - 1][at(slot)])];
    budget -= static_cast<long long>(slots.size());
    std::for_each(slots.begin(), slots.end(), add);
  }
  return sum;
}

double MemoryLoads::gain(int element, int from, int to, int other, std::vector<int>& occupant,
                         long long& budget) {
  if (!times_.streams(element) && (other < 0 || !times_.streams(other))) return 0;
  const double before = ns_around(from, to, occupant, budget);
  exchange(element, from, to, other);
  std::swap(occupant[at(from)], occupant[at(to)]);
  const double after = ns_around(from, to, occupant, budget);
  std::swap(occupant[at(from)], occupant[at(to)]);
  exchange(element, to, from, other);
  return before - after;
}

void MemoryLoads::exchange(int element, int from, int to, int other) {
  const double moves = times_.activity(element) - (other < 0 ? 0 : times_.activity(other));
  for (const auto& group : times_.group_of_slot_) {
    loads_[at(group[at(from)])] -= moves;
    loads_[at(group[at(to)])] += moves;
  }
}

}  // namespace huddle::mapping
