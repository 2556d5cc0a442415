// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>

#include "machine/machine_file.h"

namespace huddle::team {
namespace {

std::optional<machine::Machine> machine_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return machine::parse_machine(text, "rank 0");
}

std::vector<Whereabouts> whereabouts_of(const std::vector<Statement>& statements) {
  std::vector<Whereabouts> whereabouts;
  for (const Statement& one : statements) whereabouts.push_back(one.whereabouts);
  return whereabouts;
}

std::string heap_refusal_of(const std::vector<Statement>& statements) {
  for (std::size_t rank = 0; rank < statements.size(); ++rank) {
    if (!statements[rank].has_heap) return fmt::format("rank {} has no shared heap", rank);
  }
  return {};
}

bool all_have_one_sided_fence(const std::vector<Statement>& statements) {
  return std::all_of(statements.begin(), statements.end(),
                     [](const Statement& one) { return one.has_one_sided_fence; });
}

// Numbers put into one, in their order.
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
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 1;
};

}  // namespace

Places::Places(const Settlement& settlement, const Context& context)
    : queue_bytes_(settlement.statements.front().queue_bytes),
      other_machine_(machine_of(settlement.machine_text)),
      whereabouts_(whereabouts_of(settlement.statements)),
      model_(machine(context)),
      seats_(node::seats(machine(context).topology,
                         seats_of(whereabouts_, machine(context).topology))),
      provision_(select::provision(seats_, queue_bytes_)),
      association_(seats_),
      has_one_sided_fence_(all_have_one_sided_fence(settlement.statements)),
      is_forcing_unlike_(settlement.forcing_text.has_value()) {
  provision_.forcing =
      settlement.forcing_text ? select::Forcing(*settlement.forcing_text) : context.forcing();
  provision_.heap_refusal = heap_refusal_of(settlement.statements);
}

std::uint64_t Places::digest() const {
  Digest digest;
  digest.add(queue_bytes_);
  for (const std::vector<int>* numbers : {&seats_.pus, &seats_.order, &seats_.memory_of}) {
    digest.add(*numbers);
  }
  for (const std::vector<int>& level : seats_.group_of) digest.add(level);
  for (int block = 0; block <= association_.blocks(); ++block) {
    digest.add(static_cast<std::uint64_t>(association_.first(block)));
  }
  for (const node::Shape& shape : provision_.shapes) {
    digest.add(static_cast<std::uint64_t>(shape.kind));
    digest.add(static_cast<std::uint64_t>(shape.degree));
  }
  return digest.value();
}

std::size_t Places::best_queue() const {
  return seats_.ranks() == 1 ? queue_bytes_ : select::best_queue(seats_, model_, queue_bytes_);
}

DecisionBook::Edition DecisionBook::latest() const {
  const std::scoped_lock lock(mutex_);
  return latest_;
}

std::shared_ptr<Places> agreed_places(const Context& context, const Bootstrap& bootstrap,
                                      SettlingRoom& room) {
  const Settlement settlement = settle(bootstrap, context, room);
  std::shared_ptr<Places> places;
  View mine;
  mine.trouble = Trouble::of([&] {
    places = std::make_shared<Places>(settlement, context);
    mine.digest = places->digest();
    if (bootstrap.rank == 0) mine.queue_bytes = places->best_queue();
  });
  const std::span<View> views = room.views;
  gather_to(views, bootstrap, mine);
  throw_first(std::span<const View>(views), &View::trouble);
  for (std::size_t rank = 0; rank < views.size(); ++rank) {
    if (views[rank].digest == views.front().digest) continue;
    throw_of(rank,
             Trouble("it reckons with another machine than rank 0, or in another manner: give "
                     "all ranks the same libhuddle"));
  }
  places->set_queue(views.front().queue_bytes);
  return places;
}

// The sum does not depend on the order in which they came, which may differ from rank to rank. The
// one that came first stays.
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

}  // namespace huddle::team
