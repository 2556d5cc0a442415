// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// M. Kurnosov, E. Tokmasheva: the pipelined broadcast, by their formula and by predicted times.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

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

// Returns a column of Table 1: the megabytes of the queue for which 4, 8, ... 64 KB are the best
// fragment size if a notification takes as long as copying k bytes.
std::vector<double> best_queues(double k) {
  std::vector<double> queues;
  for (std::size_t fragment = page; fragment <= 16 * page; fragment += page) {
    const auto bytes = static_cast<double>(fragment);
    queues.push_back(bytes * bytes / k / static_cast<double>(MiB));
  }
  return queues;
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

// States whether the root fills the next buffer while ranks are notified of the one before, as a
// processor with a store buffer can, or waits until its children or (as in the paper's formula) all
// ranks have been notified.
enum class RootWaits { never, for_children, for_all };

// A broadcast through shared buffers whose time is predicted.
struct Design {
  Shape notices;             // the tree of notifications
  std::size_t fragment = 0;  // bytes of a buffer
  std::size_t buffers = 1;   // buffers of a set, which is awaited and released as a whole
  std::size_t sets = 1;      // used in turn
  bool data_follow = false;  // the data also follow the tree, from buffer to buffer
  RootWaits root_waits = RootWaits::never;
};

constexpr Shape flat{Shape::Kind::flat, 1};
constexpr Shape chain{Shape::Kind::chain, 1};
constexpr Shape binary{Shape::Kind::kary, 2};
constexpr Shape four_ary{Shape::Kind::kary, 4};

constexpr Design theirs{binary, figures_fragment, 64};
constexpr Design mvapich{flat, figures_fragment, 128};
// Open MPI's coll/sm has two banks of four buffers.
constexpr Design coll_sm{four_ary, figures_fragment, 4, 2, true};

constexpr Design with(Design design, RootWaits root_waits) {
  design.root_waits = root_waits;
  return design;
}

// Ranks, message and roots of a figure of the paper.
struct Setting {
  std::size_t message = 4 * MiB;  // if the paper states no size
  int ranks = 0;                  // on the first cores; 0: on all
  bool root_shift = false;        // each rank is the root once, as with IMB's -root_shift
};
// Fig. 7 uses the eight cores of one NUMA node.
constexpr Setting one_node(std::size_t message) { return {message, 8}; }
constexpr Setting every_root{.root_shift = true};

Seated seated_for(const Machine& machine, const Setting& setting) {
  std::vector<int> pus = machine.topology.pus.cpus();
  if (setting.ranks > 0) pus.resize(static_cast<std::size_t>(setting.ranks));
  return Seated(machine, std::move(pus));
}

// Returns the mean over all roots of the setting.
template <class NsOf>
double mean_ns(const Setting& setting, int ranks, const NsOf& ns_of_root) {
  const int roots = setting.root_shift ? ranks : 1;
  double sum_ns = 0;
  for (int root = 0; root < roots; ++root) sum_ns += ns_of_root(root);
  return sum_ns / roots;
}

// Returns the predicted time of a broadcast. In a set, the first buffer is filled and its
// notification travels down the tree. The other buffers follow at the pace of the slowest rank. The
// last buffer is copied out, and the readers decrement one counter one after the other. With
// several sets, the next one is filled meanwhile.
double design_ns(const Seated& seated, const Design& design, std::size_t message, int root) {
  const select::Costs& costs = seated.costs;
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

  double root_ns = fill_ns;
  if (design.root_waits == RootWaits::for_children) root_ns += notices_ns;
  if (design.root_waits == RootWaits::for_all) root_ns += down_ns;
  const double pace_ns = std::max({root_ns, read_ns + notices_ns, hand_on_ns + notices_ns});
  // A short message leaves buffers of the set unused.
  const double buffers =
      std::min(static_cast<double>(design.buffers), select::ceil_div(message, design.fragment));
  const double set_ns =
      fill_ns + down_ns + through_ns + (buffers - 1) * pace_ns + read_ns + counted_down_ns;
  const double turn_ns = std::max(buffers * pace_ns, set_ns / static_cast<double>(design.sets));
  const double turns = select::ceil_div(message, design.fragment * design.buffers);
  return set_ns + (turns - 1) * turn_ns;
}

double design_ns(const Machine& machine, const Design& design, const Setting& setting) {
  const Seated seated = seated_for(machine, setting);
  return mean_ns(setting, seated.costs.ranks(),
                 [&](int root) { return design_ns(seated, design, setting.message, root); });
}

// Simulates the design with huddle's own protocol, which also uses sets and a tree. Designs whose
// data follow the tree have no equivalent.
double simulated_ns(const Machine& machine, const Design& design, const Setting& setting) {
  const Seated seated = seated_for(machine, setting);
  select::TeamResources resources =
      select::team_resources(seated.locality, select::usual_queue_bytes);
  const auto cells = [](std::size_t bytes) { return static_cast<int>(bytes / page); };
  resources.pipelined_bcast = {{design.notices},
                               page,
                               cells(design.fragment * design.buffers),
                               static_cast<int>(design.sets)};
  const select::Request request{.operation = select::Operation::bcast, .bytes = setting.message};
  return mean_ns(setting, seated.costs.ranks(), [&](int root) {
    return protocols::predict(
               {.request = request,
                .locality = seated.locality,
                .resources = resources,
                .model = seated.model,
                .root = root},
               node::PipelinedBcast::Plan{0, cells(design.fragment), memory::CopyKernel::plain})
        .all_ns();
  });
}

using NsOf = double (*)(const Machine& machine, const Design& design, const Setting& setting);

OfMachine by(NsOf ns_of, const Design& ours, const Design& other, const Setting& setting) {
  return [=](const Machine& machine) {
    return ns_of(machine, ours, setting) / ns_of(machine, other, setting);
  };
}

// Returns the time with the slower of the paper's two best trees (binary and chain), relative to
// the fastest other tree.
OfMachine best_trees(NsOf ns_of, RootWaits root_waits = RootWaits::never) {
  return [=](const Machine& machine) {
    const auto ns = [&](const Shape& shape) {
      Design design = theirs;
      design.notices = shape;
      design.root_waits = root_waits;
      return ns_of(machine, design, {});
    };
    double others_ns = ns(flat);
    for (const int degree : {4, 8}) {
      others_ns = std::min(others_ns, ns({Shape::Kind::kary, degree}));
    }
    for (const int degree : {1, 2, 4}) {
      others_ns = std::min(others_ns, ns({Shape::Kind::knomial, degree}));
    }
    return std::max(ns(binary), ns(chain)) / others_ns;
  };
}

// Returns the fragment size, in whole pages, with the shortest time through a queue of 4 MB.
OfMachine best_fragments(NsOf ns_of, std::size_t message, RootWaits root_waits = RootWaits::never) {
  return [=](const Machine& machine) {
    std::size_t best = 0;
    double best_ns = std::numeric_limits<double>::infinity();
    for (std::size_t fragment = page; fragment <= message; fragment += page) {
      const Design design{chain, fragment, figures_queue / fragment, 1, false, root_waits};
      const double ns = ns_of(machine, design, {.message = message});
      if (ns >= best_ns) continue;
      best = fragment;
      best_ns = ns;
    }
    return static_cast<double>(best);
  };
}

}  // namespace

std::vector<Experiment> kurnosov_experiments() {
  constexpr double ns_per_us = 1000;
  constexpr Setting two_ranks{figures_message, 2};
  constexpr Design small_fragments{flat, page, 32};
  constexpr Design large_fragments{flat, 16 * page, 32};
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
      {"saw-tooth", OfPaper([] { return steepest_step(32); })},
      {"fig-9-here", OfHere{16}},
      {"fig-9", by(design_ns, large_fragments, small_fragments, two_ranks),
       by(simulated_ns, large_fragments, small_fragments, two_ranks)},
      {"trees", best_trees(design_ns), best_trees(simulated_ns),
       best_trees(design_ns, RootWaits::for_children)},
      {"against-mvapich", by(design_ns, theirs, mvapich, every_root),
       by(simulated_ns, theirs, mvapich, every_root),
       by(design_ns, with(theirs, RootWaits::for_children), with(mvapich, RootWaits::for_children),
          every_root)},
      {"against-coll-sm", by(design_ns, theirs, coll_sm, every_root)},
  };
  for (const int k : {2, 4, 8, 16, 32, 64, 128, 256, 512}) {
    all.push_back({fmt::format("table-1-{}", k), OfColumn([k] { return best_queues(k); })});
  }
  for (const std::size_t kilobytes : {16, 32}) {
    const Setting setting = one_node(kilobytes * KiB);
    for (const std::size_t sets : {2, 4}) {
      const Design several{flat, figures_fragment, 1, sets};
      constexpr Design single{flat, figures_fragment, 1};
      const Design several_pages{flat, page, 1, sets};
      constexpr Design single_page{flat, page, 1};
      all.push_back({fmt::format("fig-7-{}-sets-{}k", sets, kilobytes),
                     by(design_ns, several, single, setting),
                     by(simulated_ns, several, single, setting),
                     by(design_ns, several_pages, single_page, setting)});
    }
  }
  for (const std::size_t kilobytes : {16, 32, 64}) {
    all.push_back({fmt::format("fig-5-{}k", kilobytes), best_fragments(design_ns, kilobytes * KiB),
                   best_fragments(simulated_ns, kilobytes * KiB),
                   best_fragments(design_ns, kilobytes * KiB, RootWaits::for_all)});
  }
  return all;
}

}  // namespace huddle::reproduce
