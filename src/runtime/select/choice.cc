// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/select/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/costs.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"

namespace huddle::select {
namespace {

std::optional<Candidate> preferred(const Request& request, const node::RankLocality& locality,
                                   const machine::CostModel& model,
                                   const TeamResources& resources) {
  const auto all = candidates(request, locality, model, resources);
  if (all.empty()) return std::nullopt;
  return chosen(all, resources.forcing.algorithm_for(request));
}

bool is_by(std::string_view algorithm, const Candidate& candidate) {
  return algorithm_name(candidate.plan) == algorithm;
}

bool have_same_plan(const Candidate& a, const Candidate& b) {
  return is_by(algorithm_name(a.plan), b) && a.parameters == b.parameters;
}

}  // namespace

double vote_ns(const node::RankLocality& locality, const machine::CostModel& model) {
  return Costs(model, locality).synchronization_ns();
}

// A vote on whether buffers are mapped pays off if the plan for mapped buffers saves more than the
// time of the vote, or if only that plan uses the forced algorithm.
std::optional<Choice<Candidate>> choose(const Request& request, const node::RankLocality& locality,
                                        const machine::CostModel& model,
                                        const TeamResources& resources) {
  const auto usual = preferred(request, locality, model, resources);
  if (!usual) return std::nullopt;
  Choice<Candidate> choice{*usual, std::nullopt};
  if (!resources.heap_refusal.empty()) return choice;
  Request where_mapped = request;
  where_mapped.mapped = true;
  const auto mapped = preferred(where_mapped, locality, model, resources);
  if (!mapped || !is_direct(mapped->plan) || have_same_plan(*mapped, *usual)) return choice;
  const std::string_view forced = resources.forcing.algorithm_for(request);
  const bool only_mapped = is_by(forced, *mapped) && !is_by(forced, *usual);
  if (only_mapped || mapped->ns + vote_ns(locality, model) < usual->ns)
    choice.where_mapped = mapped;
  return choice;
}

namespace {

// Returns the cheapest candidate of each algorithm but that of `usual`, the cheapest first.
std::vector<Candidate> of_other_algorithms(const Plan& usual, const std::vector<Candidate>& all) {
  std::vector<Candidate> fastest;  // of each algorithm
  for (const Candidate& candidate : all) {
    if (is_by(algorithm_name(usual), candidate)) continue;
    const auto same = std::find_if(fastest.begin(), fastest.end(), [&](const Candidate& other) {
      return is_by(algorithm_name(other.plan), candidate);
    });
    if (same == fastest.end()) {
      fastest.push_back(candidate);
    } else if (candidate.ns < same->ns) {
      *same = candidate;
    }
  }
  std::sort(fastest.begin(), fastest.end(),
            [](const Candidate& a, const Candidate& b) { return a.ns < b.ns; });
  return fastest;
}

// The cheapest candidates of the same algorithm as `usual`, by the size of their pieces.
using BySize = std::map<std::size_t, Candidate>;
BySize of_all_pieces(const Plan& usual, const std::vector<Candidate>& all) {
  BySize by_size;
  for (const Candidate& candidate : all) {
    if (!is_by(algorithm_name(usual), candidate)) continue;
    const auto [known, is_new] = by_size.try_emplace(piece_size(candidate.plan), candidate);
    if (!is_new && candidate.ns < known->second.ns) known->second = candidate;
  }
  return by_size;
}

// Neighbouring candidates differ by at least this factor in the size of their pieces. Twice the
// size changes the time by a few percent.
constexpr std::size_t piece_factor = 4;

// Returns candidates whose pieces are smaller and larger than those of `usual`, the nearest first.
std::vector<Candidate> of_same_algorithm(const Plan& usual, const std::vector<Candidate>& all) {
  std::size_t least = piece_size(usual);
  std::size_t most = least;
  if (least == 0) return {};
  const BySize by_size = of_all_pieces(usual, all);
  std::vector<Candidate> smaller;
  std::vector<Candidate> larger;
  for (auto one = by_size.rbegin(); one != by_size.rend(); ++one) {
    if (one->first * piece_factor > least) continue;
    smaller.push_back(one->second);
    least = one->first;
  }
  for (const auto& [size, candidate] : by_size) {
    if (size < most * piece_factor) continue;
    larger.push_back(candidate);
    most = size;
  }
  std::vector<Candidate> nearest;
  for (std::size_t i = 0; i < std::max(smaller.size(), larger.size()); ++i) {
    if (i < larger.size()) nearest.push_back(larger[i]);
    if (i < smaller.size()) nearest.push_back(smaller[i]);
  }
  return nearest;
}

// The place of a block's cache lines when it is written. It determines most of the time of a copy
// method, so methods with the same place are alike on every machine.
struct LinePlace {
  bool is_at_hand = false;
  bool is_with_reader = false;
  bool is_past_caches = false;

  bool operator==(const LinePlace&) const = default;
};

std::optional<LinePlace> line_place(const Plan& plan) {
  const auto method = copy_method(plan);
  if (!method) return std::nullopt;
  return LinePlace{method->is_at_hand(),
                   (*method)->ownership == memory::LineOwnership::reader_takes,
                   (*method)->in == memory::CopyKernel::nontemporal};
}

// Returns the algorithms with candidates that copy by a method, except the one that announces large
// blocks, which copies the others like pairs of ranks.
std::set<std::string_view> copying_algorithms(const std::vector<Candidate>& all) {
  std::set<std::string_view> names;
  for (const Candidate& one : all) {
    if (copy_method(one.plan) && !std::holds_alternative<AnnouncedPlan>(one.plan))
      names.insert(algorithm_name(one.plan));
  }
  return names;
}

struct ByOtherMethods {
  // The cheapest candidate of each other copy method: first the cheapest one of each other place of
  // the cache lines, then the rest.
  std::vector<Candidate> cheapest;
  // For the first method of each place, candidates with the two nearest other sizes of pieces.
  std::vector<Candidate> of_other_pieces;
};

ByOtherMethods by_other_methods(const Plan& usual, const std::vector<Candidate>& known,
                                const Request& request, const node::RankLocality& locality,
                                const machine::CostModel& model, const TeamResources& resources) {
  const std::set<std::string_view> algorithms = copying_algorithms(known);
  ByOtherMethods by_method;
  std::vector<Candidate> like_others;
  std::vector<std::optional<LinePlace>> places = {line_place(usual)};
  memory::CopyMethodSet avoided;
  if (const auto method = copy_method(usual)) avoided.set(method->number());
  while (true) {
    std::vector<Candidate> all =
        candidates_of(algorithms, request, locality, model, resources, avoided);
    std::erase_if(all, [&](const Candidate& one) {
      const auto its = copy_method(one.plan);
      return !its || avoided.test(its->number());
    });
    if (all.empty()) break;
    const Candidate& one = cheapest(all);
    avoided.set(copy_method(one.plan)->number());
    const auto place = line_place(one.plan);
    const bool is_new = std::find(places.begin(), places.end(), place) == places.end();
    (is_new ? by_method.cheapest : like_others).push_back(one);
    places.push_back(place);
    if (!is_new) continue;
    memory::CopyMethodSet all_others;
    all_others.set().reset(copy_method(one.plan)->number());
    std::vector<Candidate> same =
        candidates_of({algorithm_name(one.plan)}, request, locality, model, resources, all_others);
    std::erase_if(same, [&](const Candidate& other) {
      return copy_method(other.plan) != copy_method(one.plan);
    });
    const std::vector<Candidate> pieces = of_same_algorithm(one.plan, same);
    const std::size_t nearest = std::min<std::size_t>(pieces.size(), 2);
    by_method.of_other_pieces.insert(by_method.of_other_pieces.end(), pieces.begin(),
                                     pieces.begin() + static_cast<std::ptrdiff_t>(nearest));
  }
  by_method.cheapest.insert(by_method.cheapest.end(), like_others.begin(), like_others.end());
  return by_method;
}

// Returns the candidates in another order: two of the algorithm of `usual`, whose memory is set up,
// then one of another algorithm, and so on.
std::vector<Candidate> in_turns(std::vector<Candidate>& list, const Plan& usual) {
  const auto others = std::stable_partition(list.begin(), list.end(), [&](const Candidate& one) {
    return is_by(algorithm_name(usual), one);
  });
  std::vector<Candidate> result;
  auto same = list.begin();
  auto other = others;
  while (same != others || other != list.end()) {
    for (int i = 0; i < 2 && same != others; ++i) result.push_back(std::move(*same++));
    if (other != list.end()) result.push_back(std::move(*other++));
  }
  return result;
}

}  // namespace

std::vector<Candidate> alternatives_to(const Plan& usual, const Request& request,
                                       const node::RankLocality& locality,
                                       const machine::CostModel& model,
                                       const TeamResources& resources) {
  const std::vector<Candidate> all = candidates(request, locality, model, resources);
  // Copy methods have two turns, because their times depend most on the machine.
  const auto by_method = by_other_methods(usual, all, request, locality, model, resources);
  const auto by_algorithm = of_other_algorithms(usual, all);
  const auto by_pieces = of_same_algorithm(usual, all);
  std::vector<Candidate> list;
  const auto add = [&list](const std::vector<Candidate>& kind, std::size_t place) {
    if (place >= kind.size()) return;
    const auto known = std::find_if(list.begin(), list.end(), [&](const Candidate& one) {
      return have_same_plan(one, kind[place]);
    });
    if (known == list.end()) list.push_back(kind[place]);
  };
  const std::size_t turns = std::max({by_method.cheapest.size(), by_method.of_other_pieces.size(),
                                      by_algorithm.size(), by_pieces.size()});
  for (std::size_t turn = 0; turn < turns; ++turn) {
    add(by_method.cheapest, 2 * turn);
    add(by_algorithm, turn);
    add(by_method.cheapest, 2 * turn + 1);
    add(by_pieces, turn);
    add(by_method.of_other_pieces, turn);
  }
  return in_turns(list, usual);
}

namespace {

// The collectives and sizes from which heap_gain() is computed. Both sizes are large by any
// definition.
constexpr std::array large_operations = {Operation::bcast, Operation::allreduce,
                                         Operation::allgather, Operation::alltoall};
constexpr std::array<std::size_t, 2> large_bytes = {std::size_t{512} << 10, std::size_t{4} << 20};

}  // namespace

double heap_gain(const machine::Machine& machine) {
  const node::RankLocality locality =
      node::locality(machine.topology, machine::first_pu_of_cores(machine.topology));
  if (locality.ranks() < 2) return 1;
  const machine::CostModel model(machine);
  TeamResources provided = team_resources(locality, model, usual_queue_bytes);
  provided.heap_refusal.clear();
  double logarithms = 0;
  for (const Operation operation : large_operations) {
    for (const std::size_t bytes : large_bytes) {
      const auto best_ns = [&](bool mapped) {
        const Request request{operation, bytes, sizeof(double), mapped};
        return cheapest(candidates(request, locality, model, provided)).ns;
      };
      const double without_ns = best_ns(false);
      logarithms += std::log(without_ns / std::min(without_ns, best_ns(true)));
    }
  }
  return std::exp(logarithms / (large_operations.size() * large_bytes.size()));
}

bool heap_pays(const machine::Machine& machine) {
  const auto cost = machine::heap_cost(machine);
  return cost && !cost->is_felt() && heap_gain(machine) > 1;
}

}  // namespace huddle::select
