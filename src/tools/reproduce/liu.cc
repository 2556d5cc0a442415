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

// Returns the time of a message through shared memory, relative to the network card, while this
// number of ranks receive a message each.
double shared_memory_by_card(const Machine& machine, int ranks) {
  const machine::CostModel model(machine);
  return ucx::communication_cost_ns(model, ucx::shared_memory, four_megabytes, ranks) /
         model.message_ns(four_megabytes, ranks - 1);
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
       OfMachine([](const Machine& machine) { return shared_memory_by_card(machine, 16); })},
  };
}

}  // namespace huddle::reproduce
