// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// K. Liu and others: the path that UCX selects inside a node, by its own score, and the benefit of
// the network card.
#include <algorithm>
#include <optional>

#include "tools/reproduce/experiment.h"
#include "tools/ucx/advice.h"
#include "tools/ucx/score.h"

namespace huddle::reproduce {
namespace {

using machine::Machine;

constexpr int ranks_of_node = 32;
constexpr double four_megabytes = 4194304;

// Returns the number of rank counts from 1 to 32 per node with which UCX selects this path.
int ranks_that_take(std::string_view path, const ucx::Version& version) {
  const auto paths = ucx::shipped_ratings(version);
  int taken = 0;
  for (int ranks = 1; ranks <= ranks_of_node; ++ranks) {
    if (ucx::best_path(paths, ucx::judged_bytes, ranks) == path) ++taken;
  }
  return taken;
}

// Returns the smallest number of ranks per node with which UCX selects this path.
double first_to_take(std::string_view path, const ucx::Version& version) {
  const auto paths = ucx::shipped_ratings(version);
  int ranks = 1;
  while (ranks <= ranks_of_node && ucx::best_path(paths, ucx::judged_bytes, ranks) != path) ++ranks;
  return ranks;
}

// Returns one rank's share of the bandwidth of the node's cards if all ranks send at once.
double card_bytes_per_s(const Machine& machine, int ranks) {
  double of_node = 0;
  for (const machine::Network& network : machine.networks) {
    of_node = std::max(of_node, network.node_gb_per_s * 1e9);
  }
  return of_node / ranks;
}

// Returns whether UCX, with its default settings, adds the card as a lane for messages inside the
// node.
bool has_card_lane_as_shipped(const Machine& machine, int ranks) {
  double best = 0;
  for (const ucx::RatedPath& path : ucx::shipped_ratings(ucx::oldest_known)) {
    best = std::max(best, ucx::rate_of(path.rating, ranks));
  }
  return ucx::takes_lane(card_bytes_per_s(machine, ranks), best,
                         ucx::shipped_lane_ratio(ucx::oldest_known));
}

// Returns the same for the settings that huddle recommends, including the lane ratio even if it is
// untested.
bool has_card_lane_as_advised(const Machine& machine, int ranks) {
  const machine::CostModel model(machine);
  const ucx::Advice advice = ucx::advise(
      model, {.ranks = ranks, .version = ucx::oldest_known, .library = nullptr, .users_own = {}});
  return ucx::takes_lane(card_bytes_per_s(machine, ranks), advice.believed_bytes_per_s,
                         advice.lane_ratio.value_or(ucx::shipped_lane_ratio(ucx::oldest_known)));
}

// Returns the number of rank counts from 2 to 32 per node for which the predicate holds.
double rank_counts_with(bool (*is_so)(const Machine& machine, int ranks), const Machine& machine) {
  int counts = 0;
  for (int ranks = 2; ranks <= ranks_of_node; ++ranks) counts += is_so(machine, ranks) ? 1 : 0;
  return counts;
}

// Returns the time of KNEM relative to CMA while this number of ranks receive a message each.
double knem_by_cma(const machine::CostModel& model, int ranks) {
  return ucx::communication_cost_ns(model, "knem", ucx::judged_bytes, ranks) /
         ucx::communication_cost_ns(model, "cma", ucx::judged_bytes, ranks);
}

// Returns the time of a message inside the node by the fastest path without the card, while this
// number of ranks receive a message each.
double inside_ns(const machine::CostModel& model, double bytes, int ranks) {
  return std::min({ucx::communication_cost_ns(model, ucx::shared_memory, bytes, ranks),
                   ucx::communication_cost_ns(model, "cma", bytes, ranks),
                   ucx::communication_cost_ns(model, "knem", bytes, ranks)});
}

// Returns that time relative to the network card's.
double inside_by_card(const Machine& machine, int ranks) {
  const machine::CostModel model(machine);
  return inside_ns(model, four_megabytes, ranks) / model.message_ns(four_megabytes, ranks - 1);
}

// Returns the smallest number of ranks for which the card is slower.
double card_is_slower_from(const Machine& machine) {
  int ranks = 2;
  while (ranks <= ranks_of_node && inside_by_card(machine, ranks) >= 1) ++ranks;
  return ranks;
}

// Returns the same if the node's cards have the published line rate of 200 Gb/s.
double card_is_slower_from_at_line_rate(Machine machine) {
  constexpr double line_gb_per_s = 25;
  for (machine::Network& network : machine.networks) network.node_gb_per_s = line_gb_per_s;
  return card_is_slower_from(machine);
}

// States whether the card and the cores move their parts of a message at the same time, or the
// cores' copies wait while the card accesses the memory.
enum class Parts { overlap, take_turns };

// Returns the time of a message inside the node relative to that if UCX adds the card, which then
// gets a part in proportion to the bandwidths that UCX assumes.
double alone_by_both(const Machine& machine, int ranks, Parts parts) {
  const machine::CostModel model(machine);
  double assumed = 0;
  for (const ucx::RatedPath& path : ucx::shipped_ratings(ucx::oldest_known)) {
    assumed = std::max(assumed, ucx::rate_of(path.rating, ranks));
  }
  const double card = card_bytes_per_s(machine, ranks);
  const double by_card = four_megabytes * card / (card + assumed);
  const double cores_ns = inside_ns(model, four_megabytes - by_card, ranks);
  const double card_ns = model.message_ns(by_card, ranks - 1);
  const double both_ns = parts == Parts::overlap ? std::max(cores_ns, card_ns) : cores_ns + card_ns;
  return inside_ns(model, four_megabytes, ranks) / both_ns;
}

// Returns the number of rank counts for which adding the card does not hurt, relative to the number
// for which it does.
template <Parts parts>
double card_helps_by_hurts(const Machine& machine) {
  const double hurts = rank_counts_with(
      [](const Machine& node, int ranks) { return alone_by_both(node, ranks, parts) < 1; },
      machine);
  return (ranks_of_node - 1 - hurts) / std::max(1.0, hurts);
}

}  // namespace

std::vector<Experiment> liu_experiments() {
  return {
      {"knem-shared", OfPaper([] { return ranks_that_take("knem", ucx::oldest_known); })},
      {"cma-from", OfPaper([] { return first_to_take("cma", ucx::oldest_known); })},
      {"knem-dedicated",
       OfPaper([] { return ranks_that_take("knem", ucx::knem_is_each_ranks_own); })},
      {"knem-gains-with-ranks", OfMachine([](const Machine& machine) {
         const machine::CostModel model(machine);
         return knem_by_cma(model, ranks_of_node) / knem_by_cma(model, 2);
       })},
      {"lanes-as-shipped", OfMachine([](const Machine& machine) {
         return rank_counts_with(has_card_lane_as_shipped, machine);
       })},
      {"lanes-as-advised", OfMachine([](const Machine& machine) {
         return rank_counts_with(has_card_lane_as_advised, machine) /
                rank_counts_with(has_card_lane_as_shipped, machine);
       })},
      {"card-16-ranks",
       OfMachine([](const Machine& machine) { return inside_by_card(machine, 16); })},
      {"card-crossover", OfMachine(card_is_slower_from), {}, card_is_slower_from_at_line_rate},
      {"card-added",
       OfMachine(card_helps_by_hurts<Parts::overlap>),
       {},
       card_helps_by_hurts<Parts::take_turns>},
  };
}

}  // namespace huddle::reproduce
