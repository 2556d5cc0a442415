// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/select/team_resources.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>

#include "common/error.h"
#include "runtime/select/costs.h"

namespace huddle::select {

Forcing::Forcing(std::string_view text) : choices_(forced_choices(text)) {
  for (const ForcedChoice& choice : choices_) {
    if (operation_named(choice.operation)) continue;
    throw InputError(fmt::format("unknown collective '{}'", choice.operation));
  }
}

std::string_view Forcing::algorithm_for(const Request& request) const {
  const auto fits = [&](const ForcedChoice& choice) {
    return choice.operation == name(request.operation) && request.bytes >= choice.least_bytes &&
           request.bytes <= choice.most_bytes;
  };
  const auto first = std::find_if(choices_.begin(), choices_.end(), fits);
  return first == choices_.end() ? std::string_view() : std::string_view(first->algorithm);
}

bool Forcing::concerns(Operation operation) const {
  return std::any_of(choices_.begin(), choices_.end(), [&](const ForcedChoice& choice) {
    return regular_form(*operation_named(choice.operation)) == regular_form(operation);
  });
}

namespace {

// Limit for data that follow a flag: a few lines, fetched together with the flag.
constexpr std::size_t inline_bytes = 4 * node::line_bytes;
// Number of slots. A rank that runs ahead checks the others' counters once each time that it has
// used all of them.
constexpr int slots_in_turn = 16;
// One set is written, one is read, and two are in transit.
constexpr int queue_sets = 4;

constexpr std::size_t smallest_slice = node::line_bytes;

// Returns the shapes of trees to try. A tree of a higher degree would be flat.
std::vector<node::Shape> shapes_for(const node::RankLocality& locality) {
  using Kind = node::Shape::Kind;
  std::vector<node::Shape> shapes = {{Kind::flat, 1}};
  if (locality.ranks() <= 2) return shapes;
  shapes.push_back({Kind::chain, 1});
  for (int degree = 2; degree < locality.ranks() - 1; degree *= 2) {
    shapes.push_back({Kind::kary, degree});
  }
  for (int degree = 1; degree < locality.ranks() - 1; degree *= 2) {
    shapes.push_back({Kind::knomial, degree});
  }
  if (!locality.group_of.empty()) shapes.push_back({Kind::levels, 1});
  return shapes;
}

// Number of concurrent copies that the memory controller of a node sustains at full rate
// (docs/model.md). More readers of one segment would share that rate.
constexpr int copies_at_full_rate = 4;

constexpr std::size_t least_queue = 4 * queue_sets * node::page_bytes;

}  // namespace

// With a larger queue a rank waits less often, but the lines of a queue that is too large are
// evicted from the caches between two uses. Corresponds to the choice of b by Kurnosov and
// Tokmasheva (docs/papers.md), with the predicted times of writing and reading blocks of that size.
std::size_t best_queue(const node::RankLocality& locality, const machine::CostModel& model,
                       std::size_t most_bytes) {
  const Costs costs(model, locality);
  const std::size_t most = std::max(least_queue, std::bit_floor(most_bytes));
  const int far = costs.farthest_from(0);
  std::size_t best = least_queue;
  double best_pace = 0;
  for (std::size_t queue = least_queue; queue <= most; queue *= 2) {
    const memory::CopyMethod method = costs.block_copy_method_for(
        {queue, queue, queue}, 0, far, costs.shown_to_all(memory::to_one_reader));
    const double fill_ns = costs.write_ns(queue, queue, 0, far, method);
    const double drain_ns = costs.read_ns(queue, 0, far, 0, method);
    const double pace = static_cast<double>(queue) / std::max(fill_ns, drain_ns);
    if (pace <= best_pace) continue;
    best = queue;
    best_pace = pace;
  }
  return best;
}

std::vector<PathState> untried(const single_copy::PeerPaths& paths) {
  std::vector<PathState> states;
  for (const single_copy::PeerPath& path : paths) states.push_back({path.name});
  return states;
}

void TeamResources::refuse_paths(std::string_view why) {
  for (PathState& path : paths) path.refusal = why;
}

// All counts are powers of two because counters wrap around.
void TeamResources::set_queue(std::size_t bytes) {
  const std::size_t set = bytes / queue_sets;
  pipelined_bcast.set_cells = static_cast<int>(set / node::page_bytes);
  segmented_bcast.segment_bytes = bytes / 2;
  tree_reduce.capacity_bytes = set / 4;
}

TeamResources team_resources(const node::RankLocality& locality, const machine::CostModel& model,
                             std::size_t queue_bytes) {
  TeamResources with_best = team_resources(locality, queue_bytes);
  if (locality.ranks() > 1) with_best.set_queue(best_queue(locality, model, queue_bytes));
  return with_best;
}

TeamResources team_resources(const node::RankLocality& locality, std::size_t queue_bytes) {
  const auto ranks = static_cast<std::size_t>(locality.ranks());
  TeamResources resources;
  resources.shapes = shapes_for(locality);
  if (ranks == 1) return resources;
  resources.inline_bcast = {resources.shapes, inline_bytes, slots_in_turn};
  resources.pipelined_bcast = {resources.shapes, node::page_bytes, 0, queue_sets};
  resources.segmented_bcast = {copies_at_full_rate, 0};
  // Algorithms that read whole blocks have no queue: for their blocks the plan with the lowest
  // predicted time determines the size.
  const std::size_t most = std::bit_floor(queue_bytes);
  resources.exchange = {most / node::ExchangeReduce::slots};
  resources.tree_reduce = {0, slots_in_turn};
  resources.set_queue(std::max(least_queue, most));
  resources.sliced_reduce = {std::max(smallest_slice, std::bit_floor(most / queue_sets / ranks)),
                             queue_sets};
  resources.slot_exchange = {most / node::SlotExchange::slots};
  resources.rooted_exchange = {most / node::PublishedRounds::slots};
  resources.doubling_exchange = {most / node::DoublingExchange::calls_in_flight};
  resources.pair_exchange = {std::max(smallest_slice, std::bit_floor(most / queue_sets / ranks)),
                             queue_sets};
  // In private memory: a tile for DirectExchange, four blocks for DirectReduce.
  const std::size_t small = std::min(most, small_queue_bytes);
  resources.small = {
      {small / node::ExchangeReduce::slots},
      {small / slots_in_turn, slots_in_turn},
      {small / node::SlotExchange::slots},
      {small / node::PublishedRounds::slots},
      {small / node::DoublingExchange::calls_in_flight},
      {std::max(smallest_slice, std::bit_floor(small / queue_sets / ranks)), queue_sets}};
  resources.direct_exchange = {most / 4};
  resources.direct_reduce = {most / 4, 2};
  return resources;
}

}  // namespace huddle::select
