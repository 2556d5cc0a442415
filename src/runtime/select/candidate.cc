// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/select/candidate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "runtime/node/lines.h"
#include "runtime/select/algorithm.h"
#include "runtime/select/registration.h"

namespace huddle::select {
namespace {

struct Incoming {
  double blocks = 0;
  double bytes = 0;  // in each block
};

// Returns the input of the rank that receives the most if the work is shared as evenly as possible.
Incoming incoming(const Request& request, double ranks) {
  const Operation operation = request.operation;
  const auto bytes = static_cast<double>(request.bytes);
  // Each rank reduces its share of the others' data; if all ranks need the whole result, they then
  // receive the others' results.
  if (operation == Operation::allreduce) return {2 * (ranks - 1), bytes / ranks};
  if (operation == Operation::reduce || reduces_to_blocks(operation)) {
    return {ranks - 1, bytes / ranks};
  }
  const Amount out = traits_of(operation).out;
  if (out == Amount::nothing) return {};
  const bool gets_all_blocks = out == Amount::for_each || out == Amount::for_each_at_root;
  return {gets_all_blocks ? ranks - 1 : 1, bytes};
}

// Returns the time of a cache line from `from` to the farthest rank. Ranks on the same hardware
// thread count as 0, because no line times are known for them.
double farthest_line_ns(int from, const node::RankLocality& locality,
                        const machine::CostModel& model) {
  double farthest = 0;
  for (const int to : locality.pus) {
    farthest =
        std::max(farthest, std::min(model.line_ns(from, to), model.shared_line_ns(from, to)));
  }
  return farthest;
}

// Returns the time to read from the nearest peer by the fastest method.
double read_ns(double bytes, const node::RankLocality& locality, const machine::CostModel& model) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const machine::PathCurve& path : model.machine().paths) {
    fastest = std::min(fastest, model.path_ns(path.path, bytes, 0));
  }
  for (const int to : locality.pus) {
    for (const int from : locality.pus) {
      if (from == to) continue;
      for (const auto kind :
           {machine::HandoffKind::read_dirty, machine::HandoffKind::read_interleaved}) {
        fastest = std::min(fastest, model.handoff_ns(bytes, from, to, kind));
      }
    }
  }
  return fastest < std::numeric_limits<double>::infinity() ? fastest : 0;
}

}  // namespace

double floor_ns(const Request& request, const node::RankLocality& locality,
                const machine::CostModel& model) {
  double line_ns = std::numeric_limits<double>::infinity();
  for (const int from : locality.pus) {
    line_ns = std::min(line_ns, farthest_line_ns(from, locality, model));
  }
  const Incoming in = incoming(request, locality.ranks());
  if (in.blocks * in.bytes <= 0) return line_ns;
  // Small blocks are better read all at once; data that exceed a cache are better read in blocks.
  return std::max(line_ns, std::min(in.blocks * read_ns(in.bytes, locality, model),
                                    read_ns(in.blocks * in.bytes, locality, model)));
}

namespace {

// Returns the innermost level of the topology with a group that contains the whole NUMA node.
std::string_view level_of(const machine::Topology& topology, const machine::CpuSet& node) {
  for (const machine::Level& level : topology.levels) {
    for (const machine::CpuSet& group : level.groups) {
      if (group.contains(node)) return level.name;
    }
  }
  return machine::whole_machine;
}

}  // namespace

// A copy reads its source, and reads and writes back its target: three memory streams. The cores of
// a NUMA node sustain these streams at the rate of copies on all of its cores at the same time.
double memory_ns(const Request& request, const node::RankLocality& locality,
                 const machine::CostModel& model) {
  if (has_pairwise_sizes(request.operation)) return 0;
  struct Share {
    double copied_bytes = 0;
    int ranks = 0;
  };
  const machine::Topology& topology = model.machine().topology;
  std::map<const machine::NumaNode*, Share> shares;
  for (int rank = 0; rank < locality.ranks(); ++rank) {
    const OwnData data = own_data(request, rank == 0, locality.ranks());
    Share& share = shares[home_node(topology, locality.pus[static_cast<std::size_t>(rank)])];
    share.copied_bytes += (data.in_bytes + 2 * data.out_bytes) / 3;
    ++share.ranks;
  }
  double longest_ns = 0;
  for (const auto& [node, share] : shares) {
    const machine::CpuSet& cpus = node == nullptr ? topology.pus : node->cpus;
    int cores = 0;
    for (const int pu : first_pu_of_cores(topology)) cores += cpus.contains(pu) ? 1 : 0;
    if (cores == 0 || share.copied_bytes <= 0) continue;
    const double of_rank = share.copied_bytes / share.ranks;
    const double ns = model.copy_ns({.bytes = of_rank,
                                     .copier = cpus.first(),
                                     .peer = cpus.first(),
                                     .others = cores - 1,
                                     .others_share = level_of(topology, cpus)});
    longest_ns = std::max(longest_ns, ns * share.ranks / std::max(cores, share.ranks));
  }
  return longest_ns;
}

std::vector<std::size_t> piece_sizes(std::size_t bytes, std::size_t capacity) {
  std::vector<std::size_t> sizes = {std::min(node::most_in_line, capacity)};
  for (std::size_t size = 4 * node::line_bytes; size <= capacity; size *= 2) {
    if (sizes.back() >= bytes) break;
    sizes.push_back(size);
  }
  return sizes;
}

std::string_view algorithm_name(const Plan& plan) {
  return std::visit([]<class PlanOfIt>(const PlanOfIt&) { return Registration<PlanOfIt>::name; },
                    plan);
}

bool is_direct(const Plan& plan) {
  return std::visit([]<class PlanOfIt>(const PlanOfIt&) { return DirectPlan<PlanOfIt>; }, plan);
}

single_copy::PathNumber path_of(const Plan& plan) {
  return std::visit(
      []<class PlanOfIt>(const PlanOfIt& one) -> single_copy::PathNumber {
        if constexpr (DirectPlan<PlanOfIt>) {
          return one.path;
        } else {
          return 0;
        }
      },
      plan);
}

std::size_t piece_size(const Plan& plan) {
  return std::visit(
      []<class PlanOfIt>(const PlanOfIt& one) -> std::size_t {
        if constexpr (requires { Registration<PlanOfIt>::piece_size(one); }) {
          return Registration<PlanOfIt>::piece_size(one);
        } else {
          return 0;
        }
      },
      plan);
}

std::optional<memory::CopyMethod> copy_method(const Plan& plan) {
  return std::visit(
      []<class PlanOfIt>(const PlanOfIt& one) -> std::optional<memory::CopyMethod> {
        if constexpr (requires { Registration<PlanOfIt>::copy_method(one); }) {
          return Registration<PlanOfIt>::copy_method(one);
        } else {
          return std::nullopt;
        }
      },
      plan);
}

PlanFeatures features_of(const Plan& plan) {
  return {algorithm_name(plan), piece_size(plan), copy_method(plan)};
}

namespace {

template <class... Plans>
std::optional<std::string_view> registered_among(std::string_view name,
                                                 const std::variant<Plans...>* /*of*/) {
  for (const std::string_view known : {std::string_view(Registration<Plans>::name)...}) {
    if (known == name) return known;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> registered_algorithm(std::string_view name) {
  return registered_among(name, static_cast<const Plan*>(nullptr));
}

namespace {

// Returns the algorithms that copy through shared memory.
std::vector<Algorithm> shared_algorithms(Operation operation, const TeamResources& resources) {
  switch (operation) {
    case Operation::barrier:
      return barrier_algorithms();
    case Operation::bcast:
      return bcast_algorithms(resources);
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      return reduce_algorithms(operation, resources);
    case Operation::allgather:
    case Operation::allgatherv:
      return allgather_algorithms(resources);
    case Operation::alltoall:
      return alltoall_algorithms(resources);
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
      // The order matters: for small blocks both have the same predicted time, and the first one
      // must be chosen because it also announces large blocks.
      return {announced_algorithm(), uneven_algorithm()};
    case Operation::gather:
      return gather_algorithms();
    case Operation::scatter:
      return scatter_algorithms(resources);
  }
  return {};
}

}  // namespace

std::vector<Algorithm> algorithms(Operation operation, const TeamResources& resources) {
  std::vector<Algorithm> list = shared_algorithms(operation, resources);
  std::vector<Algorithm> direct = direct_algorithms(operation);
  list.insert(list.end(), std::make_move_iterator(direct.begin()),
              std::make_move_iterator(direct.end()));
  return list;
}

namespace {

// Returns infinity for a candidate that has no predicted time because the machine file lacks a
// figure.
double comparable_ns(const Candidate& candidate) {
  return std::isfinite(candidate.ns) ? candidate.ns : std::numeric_limits<double>::infinity();
}

// Removes candidates without a predicted time, unless no candidate has one.
void drop_unpriced(std::vector<Candidate>& list) {
  const auto has_none = [](const Candidate& one) { return !std::isfinite(one.ns); };
  if (!std::all_of(list.begin(), list.end(), has_none)) std::erase_if(list, has_none);
}

// Raises a time below least_ns to almost least_ns. Raised times keep their order by differences
// that are smaller than the precision of any figure.
double no_less(double ns, double least_ns) {
  constexpr double hardly = 1e-6;
  return ns >= least_ns ? ns : std::max(ns, least_ns * (1 - hardly * (1 - ns / least_ns)));
}

}  // namespace

std::vector<Candidate> candidates(const Request& request, const node::RankLocality& locality,
                                  const machine::CostModel& model, const TeamResources& resources) {
  const Costs costs(model, locality);
  std::vector<Candidate> list;
  for (const Algorithm& one : algorithms(request.operation, resources)) {
    one.add(list, costs, resources, request);
  }
  drop_unpriced(list);
  const double least_ns = memory_ns(request, locality, model);
  for (Candidate& one : list) one.ns = no_less(one.ns, least_ns);
  return list;
}

std::vector<Candidate> candidates_of(const std::set<std::string_view>& names,
                                     const Request& request, const node::RankLocality& locality,
                                     const machine::CostModel& model,
                                     const TeamResources& resources,
                                     const memory::CopyMethodSet& avoided) {
  const Costs costs(model, locality, avoided);
  std::vector<Candidate> list;
  for (const Algorithm& one : algorithms(request.operation, resources)) {
    if (names.contains(one.name)) one.add(list, costs, resources, request);
  }
  drop_unpriced(list);
  return list;
}

const Candidate& cheapest(const std::vector<Candidate>& candidates) {
  return *std::min_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return comparable_ns(a) < comparable_ns(b); });
}

const Candidate& chosen(const std::vector<Candidate>& candidates, std::string_view forced) {
  const Candidate* best = nullptr;
  for (const Candidate& one : candidates) {
    if (algorithm_name(one.plan) != forced) continue;
    if (best == nullptr || comparable_ns(one) < comparable_ns(*best)) best = &one;
  }
  return best != nullptr ? *best : cheapest(candidates);
}

}  // namespace huddle::select
