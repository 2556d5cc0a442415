// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// M. Kurnosov, E. Tokmasheva: the pipelined broadcast, by their formula and by predicted times.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/arithmetic.h"
#include "runtime/node/locality.h"
#include "runtime/select/algorithm.h"
#include "tools/reproduce/experiment.h"

namespace huddle::reproduce {
namespace {

using machine::Machine;
using node::Shape;

constexpr std::size_t page = 4096;

// Parameters of the paper's plots: the times to copy a byte, to notify a reader, to wait for a set
// of buffers, and to release a set.
constexpr double byte_ns = 1;
constexpr double notice_ns = 50 * byte_ns;
constexpr double wait_ns = 100 * byte_ns;
constexpr double release_ns = 10 * byte_ns;

constexpr std::size_t figures_message = 16 * MiB;
constexpr std::size_t figures_queue = 4 * MiB;
constexpr std::size_t figures_fragment = 8192;

// Returns the paper's t(m, s): s buffers of f bytes are filled in turn while readers follow.
double formula_ns(std::size_t message, std::size_t fragment, std::size_t buffers) {
  const double in_set_ns = wait_ns + release_ns + static_cast<double>(fragment) * byte_ns;
  return select::ceil_div(message, fragment * buffers) * in_set_ns +
         select::ceil_div(message, fragment) * notice_ns + static_cast<double>(message) * byte_ns;
}

// Returns the fragment size that minimizes the paper's formula for a queue of this size.
double best_fragment(std::size_t queue) {
  return std::sqrt(static_cast<double>(queue) * notice_ns / byte_ns);
}

// With a fixed number of buffers, the time rises with the fragment size and falls where a larger
// fragment saves a set. Returns the greatest fall after the first rise, as a ratio between
// neighbouring page counts.
double steepest_step(std::size_t buffers) {
  const auto ns = [&](std::size_t fragment) {
    return formula_ns(figures_message, fragment, buffers);
  };
  bool has_risen = false;
  double steepest = std::numeric_limits<double>::infinity();
  for (std::size_t fragment = page; fragment < figures_message / buffers; fragment += page) {
    const double step = ns(fragment + page) / ns(fragment);
    has_risen = has_risen || step > 1;
    if (has_risen) steepest = std::min(steepest, step);
  }
  return steepest;
}

// A broadcast through shared buffers whose time is predicted.
struct Design {
  Shape notices;             // the tree of notifications
  std::size_t fragment = 0;  // bytes of a buffer
  std::size_t buffers = 1;   // buffers of a set, which is awaited and released as a whole
  std::size_t sets = 1;      // used in turn
  bool data_follow = false;  // the data also follow the tree, from buffer to buffer
};

constexpr Shape flat{Shape::Kind::flat, 1};
constexpr Shape chain{Shape::Kind::chain, 1};
constexpr Shape binary{Shape::Kind::kary, 2};
constexpr Shape four_ary{Shape::Kind::kary, 4};

constexpr Design theirs(std::size_t buffers) {
  return {binary, figures_fragment, buffers, 1, false};
}
constexpr Design mvapich{flat, figures_fragment, 128, 1, false};
// Open MPI's coll/sm has two banks of four buffers.
constexpr Design coll_sm{four_ary, figures_fragment, 4, 2, true};

// Returns the predicted time of a broadcast. In a set, the first buffer is filled and its
// notification travels down the tree. The other buffers follow at the pace of the slowest rank. The
// last buffer is copied out, and the readers decrement one counter one after the other. With
// several sets, the next one is filled meanwhile.
double design_ns(const Machine& machine, const Design& design, std::size_t message) {
  const Seated seated(machine);
  const select::Costs& costs = seated.costs;
  constexpr int root = 0;
  const int far = costs.farthest_from(root);
  const int others = costs.ranks() - 2;
  const node::Tree tree = node::tree(design.notices, seated.locality, root);
  const std::vector<int> readers = costs.others_than(root);
  const std::size_t queue = design.fragment * design.buffers * design.sets;

  const double fill_ns =
      costs.write_ns(design.fragment, queue, root, far, memory::CopyKernel::plain);
  const double read_ns = costs.read_ns(design.fragment, root, far, others);
  // A parent writes a word for each of its children, each in its own cache line.
  const double notices_ns = costs.flags_ns(tree.children(root), root, 1);
  const double down_ns = select::last(select::times_down(costs, tree));
  const double counted_down_ns = costs.flags_ns(readers, root, static_cast<int>(readers.size()));
  // A rank that forwards data reads them into its own buffer, whose previous contents its children
  // have cached, and copies them from there to its output.
  const double hand_on_ns = design.data_follow
                                ? costs.fetch_again_ns(design.fragment, tree.degree() - 1,
                                                       select::PeerCopy::of_mapped()) +
                                      costs.reduce_ns(design.fragment, design.fragment, root)
                                : 0;
  const double through_ns = hand_on_ns * (tree.depth() - 1);

  const double pace_ns = std::max({fill_ns, read_ns + notices_ns, hand_on_ns + notices_ns});
  const auto buffers = static_cast<double>(design.buffers);
  const double set_ns =
      fill_ns + down_ns + through_ns + (buffers - 1) * pace_ns + read_ns + counted_down_ns;
  const double turn_ns = std::max(buffers * pace_ns, set_ns / static_cast<double>(design.sets));
  const double turns = select::ceil_div(message, design.fragment * design.buffers);
  return set_ns + (turns - 1) * turn_ns;
}

constexpr std::size_t priced_message = 4 * MiB;

OfMachine by(const Design& ours, const Design& other) {
  return [ours, other](const Machine& machine) {
    return design_ns(machine, ours, priced_message) / design_ns(machine, other, priced_message);
  };
}

// Simulates the design with huddle's own protocol, which also uses sets and a tree. Designs whose
// data follow the tree have no equivalent.
double simulated_ns(const Machine& machine, const Design& design, std::size_t message) {
  const Seated seated(machine);
  select::TeamResources resources =
      select::team_resources(seated.locality, select::usual_queue_bytes);
  const auto cells = [](std::size_t bytes) { return static_cast<int>(bytes / page); };
  resources.pipelined_bcast = {{design.notices},
                               page,
                               cells(design.fragment * design.buffers),
                               static_cast<int>(design.sets)};
  return seated.simulated_ns(
      {.operation = select::Operation::bcast, .bytes = message}, resources,
      node::PipelinedBcast::Plan{0, cells(design.fragment), memory::CopyKernel::plain});
}

OfMachine simulated(const Design& ours, const Design& other) {
  return [ours, other](const Machine& machine) {
    return simulated_ns(machine, ours, priced_message) /
           simulated_ns(machine, other, priced_message);
  };
}

// Returns the time that huddle's own cost model predicts for a pipeline.
double pipeline_ns(const Seated& seated, const Shape& shape, std::size_t queue,
                   std::size_t fragment) {
  return select::pipelined_bcast_ns(seated.costs, node::tree(shape, seated.locality, 0), queue,
                                    priced_message, fragment, memory::CopyKernel::plain);
}

// Returns the time with the slower of the paper's two best trees (binary and chain), relative to
// the fastest other tree.
template <class NsOf>
double best_trees(const NsOf& ns) {
  double others_ns = ns(flat);
  for (const int degree : {4, 8}) {
    others_ns = std::min(others_ns, ns({Shape::Kind::kary, degree}));
  }
  for (const int degree : {1, 2, 4}) {
    others_ns = std::min(others_ns, ns({Shape::Kind::knomial, degree}));
  }
  return std::max(ns(binary), ns(chain)) / others_ns;
}
double priced_trees(const Machine& machine) {
  const Seated seated(machine);
  return best_trees([&seated](const Shape& shape) {
    return pipeline_ns(seated, shape, 64 * figures_fragment, figures_fragment);
  });
}
double simulated_trees(const Machine& machine) {
  return best_trees([&machine](const Shape& shape) {
    return simulated_ns(machine, {shape, figures_fragment, 64, 1, false}, priced_message);
  });
}

template <class NsOf>
double cheapest_fragment(const NsOf& ns_of) {
  std::size_t best = 0;
  double best_ns = std::numeric_limits<double>::infinity();
  for (std::size_t fragment = page; fragment <= figures_queue; fragment *= 2) {
    const double ns = ns_of(fragment);
    if (ns >= best_ns) continue;
    best = fragment;
    best_ns = ns;
  }
  return static_cast<double>(best);
}
double priced_fragment(const Machine& machine) {
  const Seated seated(machine);
  return cheapest_fragment([&seated](std::size_t fragment) {
    return pipeline_ns(seated, binary, figures_queue, fragment);
  });
}
double simulated_fragment(const Machine& machine) {
  return cheapest_fragment([&machine](std::size_t fragment) {
    return simulated_ns(machine, {binary, fragment, figures_queue / fragment, 1, false},
                        priced_message);
  });
}

}  // namespace

std::vector<Experiment> kurnosov_experiments() {
  constexpr double ns_per_us = 1000;
  std::vector<Experiment> all = {
      {"best-fragment", OfPaper([] { return best_fragment(figures_queue); })},
      {"one-buffer",
       OfPaper([] { return formula_ns(figures_message, figures_fragment, 1) / ns_per_us; })},
      {"half-the-time", OfPaper([] {
         // Enough buffers for the whole message, so the root never waits.
         constexpr std::size_t buffers = figures_message / figures_fragment;
         return formula_ns(figures_message, figures_fragment, buffers) /
                formula_ns(figures_message, figures_fragment, 1);
       })},
      {"two-buffers-here", OfHere{2}},
      {"four-buffers-here", OfHere{4}},
      {"saw-tooth", OfPaper([] { return steepest_step(64); })},
  };
  for (const std::string machine : {"broadwell", "nehalem"}) {
    all.push_back(
        {"two-buffers-" + machine, by(theirs(2), theirs(1)), simulated(theirs(2), theirs(1))});
    all.push_back(
        {"four-buffers-" + machine, by(theirs(4), theirs(1)), simulated(theirs(4), theirs(1))});
    all.push_back(
        {"against-mvapich-" + machine, by(theirs(64), mvapich), simulated(theirs(64), mvapich)});
    all.push_back({"against-coll-sm-" + machine, by(theirs(64), coll_sm)});
    all.push_back({"trees-" + machine, OfMachine(priced_trees), simulated_trees});
    all.push_back({"fragment-" + machine, OfMachine(priced_fragment), simulated_fragment});
  }
  return all;
}

}  // namespace huddle::reproduce
