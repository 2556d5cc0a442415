// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Candidates and predicted times of the barriers.
#include "runtime/select/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <variant>

namespace huddle::select {
namespace {

using node::Release;

constexpr std::array<Release, 3> releases = {Release::announced, Release::same_line,
                                             Release::own_queue};

std::string_view name(Release release) {
  switch (release) {
    case Release::same_line:
      return "one queue";
    case Release::own_queue:
      return "two queues";
    case Release::announced:
      return "announced";
  }
  return {};
}

// Returns the time until `rank` knows that all ranks of its subtree have arrived.
double gathered_ns(const Costs& costs, const node::Tree& tree, int rank, int flags_per_line) {
  const auto children = tree.children(rank);
  double slowest = 0;
  for (const int child : children) {
    slowest = std::max(slowest, gathered_ns(costs, tree, child, flags_per_line));
  }
  return slowest + costs.flags_ns(children, rank, flags_per_line);
}

// Returns the time until the release has reached the whole subtree of `rank`. If each child has a
// release flag of its own, the parent must regain ownership of a line from each child, which takes
// as long as if each child wrote a flag. An announced release is a single line that all children
// read.
double release_ns(const Costs& costs, const node::Tree& tree, int rank,
                  const node::TreeBarrier::Parameters& parameters) {
  const auto children = tree.children(rank);
  double slowest = 0;
  for (const int child : children) {
    slowest = std::max(slowest, release_ns(costs, tree, child, parameters));
  }
  switch (parameters.release) {
    case Release::announced:
      return slowest + costs.line_to_ns(rank, children);
    case Release::same_line:
    case Release::own_queue:
      return slowest + costs.flags_ns(children, rank, parameters.flags_per_line);
  }
  return slowest;
}

constexpr int flags_in_line = static_cast<int>(node::line_bytes / node::flag_bytes);

std::vector<int> flags_per_line_choices(int flags) {
  std::vector<int> choices = {1};
  if (flags > 1) choices.push_back(2);
  if (flags > 2) choices.push_back(flags_in_line / 2);  // two per child: arrival and release
  return choices;
}

void add_dissemination(std::vector<Candidate>& list,
                       const node::DisseminationBarrier::Parameters& parameters, double ns) {
  list.push_back({DisseminationPlan{parameters},
                  fmt::format("radix {}, flags per cache line: {}", parameters.radix,
                              parameters.flags_per_line),
                  ns});
}

// In a dissemination barrier every rank waits for all others before it can return, so its gather
// phase cannot run alone.
void add_disseminations(std::vector<Candidate>& list, const Costs& costs, const TeamResources&,
                        const Request& request) {
  if (request.barrier_phase != BarrierPhase::both) return;
  const int ranks = costs.ranks();
  for (int radix = 2;; radix *= 2) {
    const node::DisseminationBarrier::Parameters parameters{std::min(radix, ranks), 1};
    add_dissemination(list, parameters, dissemination_ns(costs, parameters));
    if (radix >= ranks) break;
  }
  // A variant with all flags in one line, which all ranks fetch. If there are two ranks, they
  // contend for the line because both write it.
  const node::DisseminationBarrier::Parameters together{ranks, std::min(ranks, flags_in_line)};
  add_dissemination(list, together,
                    ranks == 2 ? costs.shared_line_ns(0, 1) : dissemination_ns(costs, together));
}

void add_tree_barriers_of(std::vector<Candidate>& list, const Costs& costs,
                          const node::Shape& shape) {
  const node::Tree tree = node::tree(shape, costs.locality(), 0);
  for (const Release release : releases) {
    for (const int per_line : flags_per_line_choices(tree.degree())) {
      const node::TreeBarrier::Parameters parameters{per_line, release};
      list.push_back(
          {TreeBarrierPlan{shape, parameters},
           fmt::format("{}, {}, flags a line: {}", node::name(shape), name(release), per_line),
           tree_barrier_ns(costs, tree, parameters)});
    }
  }
}

double phase_ns(const Costs& costs, const TreeBarrierPlan& plan, BarrierPhase phase) {
  const node::Tree tree = node::tree(plan.shape, costs.locality(), 0);
  switch (phase) {
    case BarrierPhase::both:
      return tree_barrier_ns(costs, tree, plan.parameters);
    case BarrierPhase::gather:
      return gathered_ns(costs, tree, tree.root(), plan.parameters.flags_per_line);
    case BarrierPhase::release:
      return release_ns(costs, tree, tree.root(), plan.parameters);
  }
  return 0;
}

// Both phases of one barrier use the same tree. A request for one phase gets the tree on which the
// two together are cheapest, so that two requests give the same plan.
void add_tree_barriers(std::vector<Candidate>& list, const Costs& costs,
                       const TeamResources& resources, const Request& request) {
  std::vector<Candidate> trees;
  for (const node::Shape& shape : resources.shapes) add_tree_barriers_of(trees, costs, shape);
  if (request.barrier_phase != BarrierPhase::both && !trees.empty()) {
    Candidate best = cheapest(trees);
    best.ns = phase_ns(costs, std::get<TreeBarrierPlan>(best.plan), request.barrier_phase);
    trees = {std::move(best)};
  }
  list.insert(list.end(), std::make_move_iterator(trees.begin()),
              std::make_move_iterator(trees.end()));
}

}  // namespace

double tree_barrier_ns(const Costs& costs, const node::Tree& tree,
                       const node::TreeBarrier::Parameters& parameters) {
  return gathered_ns(costs, tree, tree.root(), parameters.flags_per_line) +
         release_ns(costs, tree, tree.root(), parameters);
}

// In each round a rank waits for the flags of radix - 1 other ranks, while radix - 1 ranks read its
// own flag.
double dissemination_ns(const Costs& costs,
                        const node::DisseminationBarrier::Parameters& parameters) {
  const int ranks = costs.ranks();
  double sum = 0;
  for (int distance = 1; distance < ranks; distance *= parameters.radix) {
    double slowest = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<int> heard;
      std::vector<int> listeners;
      for (int step = 1; step < parameters.radix && step * distance < ranks; ++step) {
        heard.push_back((rank + ranks - step * distance) % ranks);
        listeners.push_back((rank + step * distance) % ranks);
      }
      const double queue_ns =
          costs.line_to_ns(rank, listeners) - costs.line_ns(rank, listeners.front());
      slowest = std::max(slowest, costs.flags_ns(heard, rank, parameters.flags_per_line) +
                                      std::max(0.0, queue_ns));
    }
    sum += slowest;
  }
  return sum;
}

std::vector<Algorithm> barrier_algorithms() {
  return {described<DisseminationPlan>("", add_disseminations),
          described<TreeBarrierPlan>("", add_tree_barriers)};
}

}  // namespace huddle::select
