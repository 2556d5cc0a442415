// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The barriers, as they describe themselves.
#include "select/barrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

// When each rank has heard from all below it: children first.
double gathered_ns(const Prices& prices, const node::Tree& tree, int rank, int flags_per_line) {
  const auto children = tree.children(rank);
  double slowest = 0;
  for (const int child : children) {
    slowest = std::max(slowest, gathered_ns(prices, tree, child, flags_per_line));
  }
  return slowest + prices.flags_ns(children, rank, flags_per_line);
}

// Flags of one's own for each child are as many lines to take back from their last readers: as if
// each child wrote one. One announced flag is one line for all.
double release_ns(const Prices& prices, const node::Tree& tree, int rank,
                  const node::TreeBarrier::Parameters& parameters) {
  const auto children = tree.children(rank);
  double slowest = 0;
  for (const int child : children) {
    slowest = std::max(slowest, release_ns(prices, tree, child, parameters));
  }
  switch (parameters.release) {
    case Release::announced:
      return slowest + prices.line_to_ns(rank, children);
    case Release::same_line:
    case Release::own_queue:
      return slowest + prices.flags_ns(children, rank, parameters.flags_per_line);
  }
  return slowest;
}

std::vector<int> flags_per_line_choices(int flags) {
  std::vector<int> choices = {1};
  if (flags > 1) choices.push_back(2);
  if (flags > 2) choices.push_back(static_cast<int>(node::line_bytes / node::flag_bytes / 2));
  return choices;
}

void add_tree_barriers(std::vector<Candidate>& list, const Prices& prices,
                       const node::Shape& shape) {
  const node::Tree tree = node::tree(shape, prices.seats(), 0);
  for (const Release release : releases) {
    for (const int per_line : flags_per_line_choices(tree.degree())) {
      const node::TreeBarrier::Parameters parameters{per_line, release};
      list.push_back(
          {TreeBarrierPlan{shape, parameters},
           fmt::format("{}, {}, flags a line: {}", node::name(shape), name(release), per_line),
           tree_barrier_ns(prices, tree, parameters)});
    }
  }
}

}  // namespace

double tree_barrier_ns(const Prices& prices, const node::Tree& tree,
                       const node::TreeBarrier::Parameters& parameters) {
  return gathered_ns(prices, tree, tree.root(), parameters.flags_per_line) +
         release_ns(prices, tree, tree.root(), parameters);
}

double dissemination_ns(const Prices& prices, int flags_per_line) {
  double sum = 0;
  for (int distance = 1; distance < prices.ranks(); distance *= 2) {
    double slowest = 0;
    for (int rank = 0; rank < prices.ranks(); ++rank) {
      const int to = (rank + distance) % prices.ranks();
      slowest = std::max(slowest, flags_per_line == 1 ? prices.line_ns(rank, to)
                                                      : prices.shared_line_ns(rank, to));
    }
    sum += slowest;
  }
  return sum;
}

std::vector<Candidate> barrier_candidates(const Prices& prices, const Provision& provision) {
  std::vector<Candidate> list;
  // Two ranks can do with one line. Among more, a line with several flags is one that several
  // pairs pull at.
  for (int per_line = 1; per_line <= (prices.ranks() == 2 ? 2 : 1); ++per_line) {
    list.push_back({DisseminationPlan{{per_line}}, fmt::format("flags a line: {}", per_line),
                    dissemination_ns(prices, per_line)});
  }
  for (const node::Shape& shape : provision.shapes) {
    add_tree_barriers(list, prices, shape);
  }
  return list;
}

}  // namespace huddle::select
