// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "simulate/protocols/model/figures.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "common/arithmetic.h"

namespace huddle::protocols::model {
namespace {

// Values that differ only by rounding errors count as equal.
constexpr double rounding = 1 + 1e-12;

}  // namespace

Sharing::Sharing(std::vector<double> gb_per_s)
    : gb_per_s_(std::move(gb_per_s)),
      passed_bytes_(gb_per_s_.size()),
      full_(gb_per_s_.size()),
      free_(gb_per_s_.size()),
      asked_(gb_per_s_.size()) {}

void Sharing::begin(int copy, double now_ns, double bytes, double alone_ns,
                    const std::vector<Load>& loads) {
  advance(now_ns);
  const auto at = std::lower_bound(open_.begin(), open_.end(), copy,
                                   [](const Open& one, int number) { return one.copy < number; });
  Open fresh{copy, bytes, bytes / alone_ns, 0, {}};
  for (const Load& load : loads) fresh.loads.push_back({load.resource, load.bytes / bytes});
  open_.insert(at, std::move(fresh));
  is_shared_ = false;
}

void Sharing::advance(double now_ns) {
  const double passed_ns = now_ns - now_ns_;
  if (passed_ns <= 0) return;
  if (!is_shared_) share();
  now_ns_ = now_ns;
  for (Open& one : open_) {
    const double bytes = std::min(one.left_bytes, one.gb_per_s * passed_ns);
    one.left_bytes -= bytes;
    for (const Load& load : one.loads) passed_bytes_[at(load.resource)] += bytes * load.bytes;
  }
}

void Sharing::set(Open& one, double gb_per_s) {
  one.gb_per_s = gb_per_s;
  for (const Load& load : one.loads) {
    free_[at(load.resource)] -= load.bytes * gb_per_s;
    asked_[at(load.resource)] -= load.bytes;
  }
}

// Progressive filling: the rates of all copies grow equally until one reaches the rate it has alone
// or a resource is full. Those copies keep their rates, and the others share the remaining
// capacity.
void Sharing::share() {
  is_shared_ = true;
  touched_.clear();
  unset_.resize(open_.size());
  for (std::size_t i = 0; i < open_.size(); ++i) {
    unset_[i] = i;
    for (const Load& load : open_[i].loads) {
      double& asked = asked_[at(load.resource)];
      if (asked == 0) {
        touched_.push_back(load.resource);
        free_[at(load.resource)] = gb_per_s_[at(load.resource)];
      }
      asked += load.bytes;
    }
  }
  while (!unset_.empty()) {
    double pace = never;
    for (const int resource : touched_) {
      const double asked = asked_[at(resource)];
      if (asked > 1e-9) pace = std::min(pace, std::max(0.0, free_[at(resource)]) / asked);
    }
    const auto set_where = [&](auto is_held) {
      const std::size_t before = unset_.size();
      std::erase_if(unset_, [&](std::size_t i) {
        const double most = is_held(open_[i]);
        if (most < 0) return false;
        set(open_[i], most);
        return true;
      });
      return unset_.size() < before;
    };
    if (set_where([&](const Open& one) {
          return one.most_gb_per_s <= pace * rounding ? one.most_gb_per_s : -1;
        })) {
      continue;
    }
    // Determines all full resources before any capacity is subtracted.
    std::vector<char>& full = full_;
    full.assign(free_.size(), 0);
    for (const int resource : touched_) {
      const bool is_full = pace * asked_[at(resource)] * rounding >= free_[at(resource)];
      full[at(resource)] = is_full ? 1 : 0;
    }
    set_where([&](const Open& one) {
      const bool is_held = std::any_of(one.loads.begin(), one.loads.end(), [&](const Load& load) {
        return full[at(load.resource)] != 0;
      });
      return is_held ? pace : -1;
    });
  }
  for (const int resource : touched_) asked_[at(resource)] = 0;
  next_end_ns_ = never;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const double end_ns = now_ns_ + open_[i].left_bytes / open_[i].gb_per_s;
    if (end_ns >= next_end_ns_) continue;
    next_end_ns_ = end_ns;
    next_ = i;
  }
}

double Sharing::next_end_ns() {
  if (open_.empty()) return never;
  if (!is_shared_) share();
  return next_end_ns_;
}

int Sharing::finish_next() {
  const double end_ns = next_end_ns();
  advance(std::max(now_ns_, end_ns));
  Open& done = open_[next_];
  for (const Load& load : done.loads) {
    passed_bytes_[at(load.resource)] += done.left_bytes * load.bytes;
  }
  const int copy = done.copy;
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(next_));
  is_shared_ = false;
  return copy;
}

namespace {

using machine::CopyCurve;
using machine::CpuSet;
using machine::HandoffKind;
using machine::Level;
using machine::Machine;
using machine::Topology;

// A plain copy reads its source, reads the lines that it overwrites, and writes these back.
constexpr double memory_streams = 3;

std::vector<CpuSet> groups_of(const Topology& topology, std::string_view level) {
  const Level* found = machine::find_level(topology, level);
  return found == nullptr ? std::vector<CpuSet>{topology.pus} : found->groups;
}

// Returns the number of `inner` groups in the first group of `outer`; 0 if they do not lie inside
// one.
int how_many_in(const std::vector<CpuSet>& inner, const std::vector<CpuSet>& outer) {
  const CpuSet& group = outer.front();
  return static_cast<int>(std::count_if(inner.begin(), inner.end(),
                                        [&](const CpuSet& one) { return group.contains(one); }));
}

// Returns the local hardware threads of each NUMA node.
std::vector<CpuSet> nodes_of(const Topology& topology) {
  std::vector<CpuSet> nodes;
  for (const machine::NumaNode& node : topology.numa) {
    if (!node.cpus.empty()) nodes.push_back(node.cpus);
  }
  if (nodes.empty()) nodes.push_back(topology.pus);
  return nodes;
}

double last_gb_per_s(const CopyCurve& copy) {
  return copy.curve.bytes.back() / machine::time_at(copy.curve, copy.curve.bytes.back());
}

const CopyCurve& alone_of(const Machine& machine) {
  return *std::find_if(machine.copy.begin(), machine.copy.end(),
                       [](const CopyCurve& copy) { return copy.copiers == 1; });
}

}  // namespace

Figures::Figures(const machine::CostModel& model, const std::vector<int>& pus, std::string path)
    : model_(model), pus_(pus), index_(model.machine().topology), path_(std::move(path)) {
  for (const Level& level : model.machine().topology.levels) levels_.push_back(level.name);
  levels_.emplace_back(machine::whole_machine);
  find_ways();
  find_caches();
  find_memory();
  find_path();
}

void Figures::find_ways() {
  const Machine& machine = model_.machine();
  for (const int from : pus_) {
    for (const int to : pus_) {
      Way way;
      if (from != to) {
        const std::size_t level = index_.joining_level(from, to);
        const auto cost =
            std::find_if(machine.line.begin(), machine.line.end(),
                         [&](const machine::LineCost& one) { return one.level == levels_[level]; });
        way = {model_.line_ns(from, to), model_.shared_line_ns(from, to), cost->reader_step_ns,
               cost->writer_step_ns,     model_.load_step_ns(from, to),   static_cast<int>(level)};
        const bool is_first = shortest_way_ns_ == 0;
        shortest_way_ns_ = is_first ? way.line_ns : std::min(shortest_way_ns_, way.line_ns);
      }
      ways_.push_back(way);
    }
  }
}

int Figures::add_resource(std::string name, double gb_per_s, bool is_controller) {
  resources_.push_back({std::move(name), gb_per_s, is_controller});
  return static_cast<int>(resources_.size()) - 1;
}

// The capacity of a cache is the total rate at which several cores copied data that fit into it but
// not into an inner cache.
void Figures::find_caches() {
  const Machine& machine = model_.machine();
  const Topology& topology = machine.topology;
  const machine::Curve& alone = alone_of(machine).curve;
  caches_of_.resize(pus_.size());
  ns_per_byte_of_.resize(pus_.size());
  double inner_bytes = 0;
  for (const Level& level : topology.levels) {
    if (level.bytes.empty()) continue;
    double most_gb_per_s = 0;
    for (const CopyCurve& copy : machine.copy) {
      const int groups = how_many_in(level.groups, groups_of(topology, copy.level));
      if (copy.copiers == 1 || groups == 0) continue;
      const double in_group = std::max(1.0, static_cast<double>(copy.copiers) / groups);
      for (const double bytes : copy.curve.bytes) {
        if (2 * bytes * in_group > static_cast<double>(level.bytes.front())) continue;
        if (2 * bytes <= inner_bytes) continue;
        const double gb_per_s = in_group * bytes / machine::time_at(copy.curve, bytes);
        most_gb_per_s = std::max(most_gb_per_s, gb_per_s);
      }
    }
    bool is_missed = false;
    for (std::size_t group = 0; group < level.groups.size(); ++group) {
      Cache cache{level.bytes[group], {}, -1};
      for (int rank = 0; rank < ranks(); ++rank) {
        if (!level.groups[group].contains(pu(rank))) continue;
        cache.ranks.push_back(rank);
        caches_of_[static_cast<std::size_t>(rank)].push_back(static_cast<int>(caches_.size()));
        double ns_per_byte = 0;
        for (const double bytes : alone.bytes) {
          if (2 * bytes > static_cast<double>(cache.bytes)) break;
          ns_per_byte = machine::time_at(alone, bytes) / bytes;
        }
        ns_per_byte_of_[static_cast<std::size_t>(rank)].push_back(ns_per_byte);
      }
      if (cache.ranks.empty()) continue;
      if (cache.ranks.size() > 1 && most_gb_per_s > 0) {
        cache.resource = add_resource(
            fmt::format("{} of {}", level.name, level.groups[group].text()), most_gb_per_s);
      }
      is_missed = is_missed || (cache.ranks.size() > 1 && most_gb_per_s == 0);
      caches_.push_back(std::move(cache));
    }
    if (is_missed) {
      not_derived_.push_back(fmt::format(
          "the bandwidth of an {}: the machine file has no [[copy]] of several cores that fits",
          level.name));
    }
    inner_bytes = static_cast<double>(level.bytes.front());
  }
  for (int rank = 0; rank < ranks(); ++rank) {
    auto& mine = caches_of_[static_cast<std::size_t>(rank)];
    if (!mine.empty()) continue;
    mine.push_back(static_cast<int>(caches_.size()));
    ns_per_byte_of_[static_cast<std::size_t>(rank)].push_back(0);
    caches_.push_back({std::numeric_limits<std::uint64_t>::max() / 2, {rank}, -1});
    if (rank == 0)
      not_derived_.push_back(
          "the size of the caches: the machine file has no sizes, so everything fits");
  }
}

// The capacity of a memory controller is the total copy rate of all cores of its node. The capacity
// of the path from some of these cores to it is the total copy rate of those cores.
void Figures::find_memory() {
  const Machine& machine = model_.machine();
  const Topology& topology = machine.topology;
  const std::vector<CpuSet> nodes = nodes_of(topology);
  memory_ways_of_.resize(pus_.size());
  controller_of_.assign(pus_.size(), -1);
  double controller_gb_per_s = 0;
  std::set<std::string> levels_inside;
  for (const CopyCurve& copy : machine.copy) {
    const std::vector<CpuSet> groups = groups_of(topology, copy.level);
    const int in_group = how_many_in(nodes, groups);
    const double all_gb_per_s = copy.copiers * last_gb_per_s(copy);
    controller_gb_per_s = std::max(controller_gb_per_s, all_gb_per_s / std::max(1, in_group));
    if (copy.copiers > 1 && in_group == 0) levels_inside.insert(copy.level);
  }
  if (std::none_of(machine.copy.begin(), machine.copy.end(), [&](const CopyCurve& copy) {
        return copy.copiers > 1 && how_many_in(nodes, groups_of(topology, copy.level)) > 0;
      })) {
    not_derived_.push_back(
        "the bandwidth of a node's memory: the machine file has no [[copy]] of all its cores, so "
        "the largest number of copying cores is used");
  }
  for (const machine::CpuSet& node : nodes) {
    int resource = -1;
    for (int rank = 0; rank < ranks(); ++rank) {
      const machine::NumaNode* home = machine::home_node(topology, pu(rank));
      if (!(home == nullptr ? node.contains(pu(rank)) : home->cpus == node)) continue;
      if (resource < 0) {
        resource = add_resource(fmt::format("memory of {}", node.text()),
                                memory_streams * controller_gb_per_s, true);
      }
      controller_of_[static_cast<std::size_t>(rank)] = resource;
    }
  }
  for (const std::string& level : levels_inside) {
    double gb_per_s = 0;
    for (const CopyCurve& copy : machine.copy) {
      if (copy.level == level) gb_per_s = std::max(gb_per_s, copy.copiers * last_gb_per_s(copy));
    }
    for (const CpuSet& group : groups_of(topology, level)) {
      int resource = -1;
      for (int rank = 0; rank < ranks(); ++rank) {
        if (!group.contains(pu(rank))) continue;
        if (resource < 0) {
          resource = add_resource(fmt::format("{} of {} to memory", level, group.text()),
                                  memory_streams * gb_per_s);
        }
        memory_ways_of_[static_cast<std::size_t>(rank)].push_back(resource);
      }
    }
  }
  if (topology.numa.size() > 1) {
    not_derived_.push_back("the bandwidth between NUMA nodes and sockets: assumed to be unlimited");
  }
}

void Figures::find_path() {
  double gb_per_s = 0;
  for (const machine::PathCurve& curve : model_.machine().paths) {
    if (curve.path != path_ || !curve.level.empty() || curve.copiers < path_copiers_) continue;
    const double bytes = curve.curve.bytes.back();
    gb_per_s = curve.copiers * bytes / path_ns_of(bytes, curve.copiers);
    path_copiers_ = curve.copiers;
  }
  if (path_copiers_ > 1) path_resource_ = add_resource("copies by the kernel", gb_per_s);
}

double Figures::path_ns_of(double bytes, int copiers) const {
  return model_.path_ns(path_, bytes, copiers - 1);
}

double Figures::path_load_bytes(std::size_t bytes) const {
  const double each_ns = path_ns_of(static_cast<double>(bytes), path_copiers_) / path_copiers_;
  return each_ns * resources_[static_cast<std::size_t>(path_resource_)].gb_per_s;
}

double Figures::path_ns(std::size_t bytes) const {
  return model_.path_ns(path_, static_cast<double>(bytes), 0);
}

namespace {

std::uint64_t code_of(const Side& side, int detail) {
  return static_cast<std::uint64_t>(side.where) | static_cast<std::uint64_t>(detail) << 2U |
         static_cast<std::uint64_t>(side.manner) << 9U;
}

}  // namespace

double Figures::copy_ns(int rank, const Side& from, const Side& to, std::size_t bytes,
                        memory::CopyKernel kernel) const {
  const auto detail = [&](const Side& side) {
    return side.where == Side::Where::own_cache ? side.which : way(rank, side.which).level;
  };
  const auto near = [&](const Side& side) {
    return side.where == Side::Where::memory &&
                   controller_of_[static_cast<std::size_t>(rank)] ==
                       controller_of_[static_cast<std::size_t>(side.which)]
               ? 127
               : detail(side);
  };
  const std::uint64_t key = static_cast<std::uint64_t>(bytes) << 32U |
                            static_cast<std::uint64_t>(kernel) << 28U |
                            code_of(to, near(to)) << 14U | code_of(from, near(from));
  const auto [known, is_new] = known_.try_emplace(key, 0);
  if (is_new) known->second = fresh_copy_ns(rank, from, to, bytes, kernel);
  return known->second;
}

double Figures::fresh_copy_ns(int rank, const Side& from, const Side& to, std::size_t bytes,
                              memory::CopyKernel kernel) const {
  machine::Copy copy{.bytes = static_cast<double>(bytes), .copier = pu(rank), .peer = pu(rank)};
  const bool by_pages = kernel == memory::CopyKernel::interleaved;
  const auto is_far = [&](const Side& side) {
    return controller_of_[static_cast<std::size_t>(rank)] !=
           controller_of_[static_cast<std::size_t>(side.which)];
  };
  const auto farther = [&](int peer) {
    if (copy.peer == copy.copier ||
        model_.line_ns(copy.copier, pu(peer)) > model_.line_ns(copy.copier, copy.peer)) {
      copy.peer = pu(peer);
    }
  };
  const auto or_usual = [&](HandoffKind kind, HandoffKind usual) {
    const double ns = model_.handoff_ns(copy.bytes, copy.copier, copy.peer, kind);
    return std::isfinite(ns) ? kind : usual;
  };
  double own_ns_per_byte = 0;
  const auto own = [&](const Side& side) {
    const auto& all = ns_per_byte_of_[static_cast<std::size_t>(rank)];
    if (side.which < static_cast<int>(all.size())) {
      own_ns_per_byte = std::max(own_ns_per_byte, all[static_cast<std::size_t>(side.which)]);
    }
  };
  double memory_ns = 0;
  const auto memory = [&](const Side& side) {
    const auto source = is_far(side) ? machine::Source::far_memory : machine::Source::near_memory;
    memory_ns = std::max(
        memory_ns,
        model_.copy_ns(
            {.bytes = copy.bytes, .copier = pu(rank), .peer = pu(side.which), .source = source}));
  };
  switch (from.where) {
    case Side::Where::own_cache:
      own(from);
      break;
    case Side::Where::peer_cache:
      copy.source = machine::Source::peer_wrote;
      farther(from.which);
      if (by_pages) copy.read = or_usual(HandoffKind::read_interleaved, HandoffKind::read_dirty);
      if (from.manner == HandoffKind::read_and_own) {
        copy.read = or_usual(HandoffKind::read_and_own, HandoffKind::read_dirty);
      }
      break;
    case Side::Where::memory:
      memory(from);
      break;
  }
  switch (to.where) {
    case Side::Where::own_cache:
      own(to);
      break;
    case Side::Where::peer_cache:
      copy.target = machine::Target::peer_cached;
      farther(to.which);
      copy.write = or_usual(to.manner, HandoffKind::write_cached);
      break;
    case Side::Where::memory:
      if (kernel == memory::CopyKernel::nontemporal) {
        copy.target = machine::Target::memory;
      } else {
        memory(to);
      }
      break;
  }
  double ns = model_.copy_ns(copy);
  if (!std::isfinite(ns)) {
    copy.source = machine::Source::own_cache;
    copy.target = machine::Target::own_cache;
    ns = model_.copy_ns(copy);
  }
  return std::max({ns, memory_ns, own_ns_per_byte * copy.bytes});
}

}  // namespace huddle::protocols::model
