// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/outlook.h"

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

void assign(std::string& to, std::string_view why) noexcept {
  try {
    to = why;
  } catch (const std::bad_alloc&) {
    to = "no memory";  // short enough to need none
  }
}

}  // namespace

Outlook::Outlook(const Settlement& settlement, const Context& context)
    : queue_bytes_(settlement.statements.front().queue_bytes),
      other_machine_(machine_of(settlement.machine_text)),
      whereabouts_(whereabouts_of(settlement.statements)),
      model_(machine(context)),
      seats_(node::seats(machine(context).topology,
                         seats_of(whereabouts_, machine(context).topology))),
      provision_(select::provision(seats_, queue_bytes_)),
      association_(seats_),
      has_one_sided_fence_(all_have_one_sided_fence(settlement.statements)) {
  provision_.heap_refusal = heap_refusal_of(settlement.statements);
}

std::uint64_t Outlook::digest() const {
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

std::size_t Outlook::best_queue() const {
  return seats_.ranks() == 1 ? queue_bytes_ : select::best_queue(seats_, model_, queue_bytes_);
}

void Outlook::refuse_direct(std::string_view why) noexcept {
  assign(provision_.direct_refusal, why);
}

void Outlook::refuse_heap(std::string_view why) noexcept { assign(provision_.heap_refusal, why); }

}  // namespace huddle::team
