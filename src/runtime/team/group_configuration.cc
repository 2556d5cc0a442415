// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/group_configuration.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/floating_point.h"
#include "model/machine/machine_file.h"
#include "runtime/select/choice.h"

namespace huddle::team {
namespace {

// Called on all ranks. Allocates no memory, so that a rank without free memory throws the same
// error as the others.
[[noreturn]] void throw_too_large(const select::Request& request) {
  std::array<char, 200> text{};
  const auto written = fmt::format_to_n(
      text.data(), text.size(),
      "{} of elements of {} bytes is impossible, because an element does not fit into this team's "
      "queues; raise queue_bytes of huddle_settings",
      name(request.operation), request.element_bytes);
  throw UsageError({text.data(), std::min(written.size, text.size())});
}

// It takes about this many times as long to list the alternatives to a plan as to choose it.
constexpr double searches_per_choice = 5;

double elapsed_ns(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Decision decide(const select::Request& request, const SelectionInputs& selection_inputs) {
  const DefaultFloatingPoint floating_point;
  const auto start = std::chrono::steady_clock::now();
  Decision decision;
  decision.number = selection_inputs.group()->decisions().next_number();
  const auto choice = select::choose(request, selection_inputs.locality(), selection_inputs.model(),
                                     selection_inputs.resources());
  if (choice) {
    decision.choice = converted(*choice, [](const select::Candidate& one) { return one.plan; });
    // The sizes of such calls are unknown, so their predicted time is that of the shortest one.
    const bool is_predicted = select::has_common_size(request.operation);
    decision.expected = {is_predicted ? choice->usual.ns : 0,
                         searches_per_choice * elapsed_ns(start)};
  }
  return decision;
}

AlternativeList list_alternatives(const select::Plan& usual, const select::Request& request,
                                  const SelectionInputs& selection_inputs) {
  const DefaultFloatingPoint floating_point;
  try {
    std::vector<Alternative> list;
    for (const select::Candidate& one :
         select::alternatives_to(usual, request, selection_inputs.locality(),
                                 selection_inputs.model(), selection_inputs.resources()))
      list.push_back({one.plan, one.ns});
    return std::make_shared<const std::vector<Alternative>>(std::move(list));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace {

// Returns infinity if the copy method differs, or the algorithm if one is wanted. Otherwise a
// number that is larger the more the sizes of the pieces differ. Without an algorithm they mean
// nothing.
double difference(const select::PlanFeatures& wanted, const select::PlanFeatures& other) {
  if (wanted.copy_method != other.copy_method ||
      (!wanted.algorithm.empty() && wanted.algorithm != other.algorithm))
    return std::numeric_limits<double>::infinity();
  if (wanted.algorithm.empty()) return 0;
  const auto logarithm = [](std::size_t bytes) {
    return std::log2(static_cast<double>(std::max<std::size_t>(bytes, 1)));
  };
  return std::abs(logarithm(wanted.piece_bytes) - logarithm(other.piece_bytes));
}

}  // namespace

std::optional<std::size_t> most_similar(std::span<const Alternative> listed,
                                        const select::PlanFeatures& wanted,
                                        const select::Plan& usual) {
  std::optional<std::size_t> best;
  double least = difference(wanted, select::features_of(usual));
  for (std::size_t place = 0; place < listed.size(); ++place) {
    const double its = difference(wanted, select::features_of(listed[place].plan));
    if (its >= least) continue;
    least = its;
    best = place;
  }
  return best;
}

Alternatives alternatives_of(const AlternativeNumbers& numbers, const AlternativeList& listed,
                             std::span<const select::PlanFeatures> recalled,
                             const select::Plan& usual) {
  Alternatives all;
  const std::vector<Alternative> none;
  const std::vector<Alternative>& list = listed ? *listed : none;
  std::array<std::optional<std::size_t>, alternatives_at_once> places{};
  for (std::size_t which = 0; which < numbers.size(); ++which) {
    const std::uint16_t number = numbers[which];
    if (number >= first_recalled_number) {
      places[which] = most_similar(list, recalled[number - first_recalled_number], usual);
    } else if (!list.empty()) {
      places[which] = number % list.size();
    }
    const auto before = places.begin() + static_cast<std::ptrdiff_t>(which);
    if (places[which] && std::find(places.begin(), before, places[which]) == before)
      all[which] = list[*places[which]];
  }
  return all;
}

Decision decision_of(std::span<const Decision> by_rank, const select::Request& request) {
  throw_first(by_rank, &Decision::rank_error);
  if (!by_rank.front().choice) throw_too_large(request);
  return by_rank.front();
}

namespace {

std::optional<machine::Machine> machine_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return machine::parse_machine(text, "rank 0");
}

std::vector<CpuBinding> whereabouts_of(const std::vector<RankStatement>& statements) {
  std::vector<CpuBinding> cpu_bindings;
  for (const RankStatement& one : statements) cpu_bindings.push_back(one.cpu_bindings);
  return cpu_bindings;
}

std::vector<MemoryNodes> memory_nodes_of(const std::vector<RankStatement>& statements) {
  std::vector<MemoryNodes> memory_nodes;
  for (const RankStatement& one : statements) memory_nodes.push_back(one.memory_nodes);
  return memory_nodes;
}

std::string heap_refusal_of(const std::vector<RankStatement>& statements) {
  for (std::size_t rank = 0; rank < statements.size(); ++rank) {
    if (!statements[rank].has_heap) return fmt::format("rank {} has no shared heap", rank);
  }
  return {};
}

bool all_have_one_sided_fence(const std::vector<RankStatement>& statements) {
  return std::all_of(statements.begin(), statements.end(),
                     [](const RankStatement& one) { return one.has_one_sided_fence; });
}

// Combines numbers into a hash that depends on their order.
class Digest {
 public:
  void add(std::uint64_t number) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
    value_ = (value_ ^ number) * odd;
    value_ ^= value_ >> 32;
  }
  void add(const std::vector<int>& numbers) {
    add(numbers.size());
    for (const int number : numbers) add(static_cast<std::uint64_t>(number));
  }
  void add(std::string_view text) {
    add(text.size());
    for (const char letter : text) add(static_cast<std::uint64_t>(letter));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1;
};

}  // namespace

GroupConfiguration::GroupConfiguration(const AgreedConfiguration& agreed, const Context& context)
    : queue_bytes_(agreed.statements.front().queue_bytes),
      other_machine_(machine_of(agreed.machine_text)),
      cpu_bindings_(whereabouts_of(agreed.statements)),
      memory_nodes_(memory_nodes_of(agreed.statements)),
      model_(machine(context)),
      locality_(node::locality(machine(context).topology,
                               processors_of(cpu_bindings_, machine(context).topology))),
      resources_(select::team_resources(locality_, queue_bytes_)),
      reduction_order_(locality_),
      has_one_sided_fence_(all_have_one_sided_fence(agreed.statements)),
      is_forcing_unlike_(agreed.forcing_text.has_value()) {
  resources_.forcing =
      agreed.forcing_text ? select::Forcing(*agreed.forcing_text) : context.forcing();
  resources_.heap_refusal = heap_refusal_of(agreed.statements);
  resources_.paths = select::untried(context.paths());
}

std::uint64_t GroupConfiguration::digest() const {
  Digest digest;
  digest.add(queue_bytes_);
  for (const std::vector<int>* numbers : {&locality_.pus, &locality_.order, &locality_.memory_of}) {
    digest.add(*numbers);
  }
  for (const std::vector<int>& level : locality_.group_of) digest.add(level);
  for (int block = 0; block <= reduction_order_.blocks(); ++block) {
    digest.add(static_cast<std::uint64_t>(reduction_order_.first(block)));
  }
  for (const node::Shape& shape : resources_.shapes) {
    digest.add(static_cast<std::uint64_t>(shape.kind));
    digest.add(static_cast<std::uint64_t>(shape.degree));
  }
  for (const select::PathState& path : resources_.paths) digest.add(path.name);
  return digest.value();
}

std::size_t GroupConfiguration::best_queue() const {
  return locality_.ranks() == 1 ? queue_bytes_
                                : select::best_queue(locality_, model_, queue_bytes_);
}

DecisionBook::Edition DecisionBook::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

AlternativeList AlternativeBook::find(const CallClass& of) const {
  const std::scoped_lock lock(mutex_);
  const auto found = lists_.find(of);
  return found == lists_.end() ? nullptr : found->second;
}

void AlternativeBook::add(const CallClass& of, const AlternativeList& list) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    lists_.emplace(of, list);
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::shared_ptr<GroupConfiguration> agreed_group_configuration(const Context& context,
                                                               const Bootstrap& bootstrap,
                                                               AgreementBuffers& room) {
  const AgreedConfiguration agreed = agree_on_configuration(bootstrap, context, room);
  std::shared_ptr<GroupConfiguration> group;
  DerivedConfiguration mine;
  mine.rank_error = RankError::of([&] {
    const DefaultFloatingPoint floating_point;
    group = std::make_shared<GroupConfiguration>(agreed, context);
    mine.digest = group->digest();
    if (bootstrap.rank == 0) mine.queue_bytes = group->best_queue();
  });
  const std::span<DerivedConfiguration> views = room.views;
  gather_to(views, bootstrap, mine);
  throw_first(std::span<const DerivedConfiguration>(views), &DerivedConfiguration::rank_error);
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    if (views[rank].digest == views.front().digest) continue;
    throw_of(rank,
             RankError("it derives another configuration than rank 0; use the same libhuddle, "
                       "machine file and settings on all ranks"));
  }
  group->set_queue(views.front().queue_bytes);
  return group;
}

// The digest is a sum because ranks may add decisions in different orders. If the class already has
// a decision, that one is kept.
void DecisionBook::add(const CallClass& of, const Decision& decision) noexcept {
  try {
    const std::scoped_lock lock(mutex_);
    if (latest_.decisions && latest_.decisions->contains(of)) return;
    auto with = latest_.decisions ? std::make_shared<Decisions>(*latest_.decisions)
                                  : std::make_shared<Decisions>();
    with->emplace(of, decision);
    Digest digest;
    digest.add(static_cast<std::uint64_t>(of.operation));
    digest.add(of.bytes);
    digest.add(of.root_moved ? 1U : 0U);
    digest.add(decision.number);
    latest_ = {std::move(with), latest_.digest + digest.value()};
  } catch (const std::bad_alloc&) {
    return;
  }
}

namespace {

void assign(std::string& to, std::string_view why) noexcept {
  try {
    to = why;
  } catch (const std::bad_alloc&) {
    to = "no memory";  // short enough to need no allocation
  }
}

}  // namespace

void SelectionInputs::refuse_path(single_copy::PathNumber path, std::string_view why) noexcept {
  assign(resources_.paths[path].refusal, why);
}

void SelectionInputs::refuse_heap(std::string_view why) noexcept {
  assign(resources_.heap_refusal, why);
}

}  // namespace huddle::team
