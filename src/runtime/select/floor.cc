// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/floor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

namespace huddle::select {
namespace {

struct Incoming {
  double blocks = 0;
  double bytes = 0;  // in each
};

// What the rank that takes in most does take in, when all share the work as well as they can.
Incoming incoming(const Request& request, double ranks) {
  const Operation operation = request.operation;
  const auto bytes = static_cast<double>(request.bytes);
  // Each reduces its share of what the others have; where all need all of it, they then take in
  // the others' results.
  if (operation == Operation::allreduce) return {2 * (ranks - 1), bytes / ranks};
  if (operation == Operation::reduce || reduces_to_blocks(operation)) {
    return {ranks - 1, bytes / ranks};
  }
  const Amount out = traits_of(operation).out;
  if (out == Amount::nothing) return {};
  const bool gets_all_blocks = out == Amount::for_each || out == Amount::for_each_at_root;
  return {gets_all_blocks ? ranks - 1 : 1, bytes};
}

// 0 where ranks share a processor: then nothing is known.
double farthest_line_ns(int from, const node::RankLocality& locality,
                        const machine::CostModel& model) {
  double farthest = 0;
  for (const int to : locality.pus) {
    farthest =
        std::max(farthest, std::min(model.line_ns(from, to), model.shared_line_ns(from, to)));
  }
  return farthest;
}

// By whatever way is the fastest, from the nearest peer.
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
  // Small blocks are better read at once, and what outgrows a cache is better read in blocks.
  return std::max(line_ns, std::min(in.blocks * read_ns(in.bytes, locality, model),
                                    read_ns(in.blocks * in.bytes, locality, model)));
}

namespace {

// The innermost level with a group that holds all of a node.
std::string_view level_of(const machine::Topology& topology, const machine::CpuSet& node) {
  for (const machine::Level& level : topology.levels) {
    for (const machine::CpuSet& group : level.groups) {
      if (group.contains(node)) return level.name;
    }
  }
  return machine::whole_machine;
}

}  // namespace

// A copy reads what it copies, and reads and writes back what it replaces: three streams, which all
// of a node's cores together carry at the pace of their copies.
double memory_ns(const Request& request, const node::RankLocality& locality,
                 const machine::CostModel& model) {
  if (is_known_to_pairs_only(request.operation)) return 0;
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

}  // namespace huddle::select
