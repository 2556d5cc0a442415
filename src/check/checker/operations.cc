// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The operations of Execution that a rank calls while it runs.
#include <fmt/format.h>

#include <utility>

#include "check/checker/checked_execution.h"
#include "check/checker/site.h"

namespace huddle::check::checker {
namespace {

std::string_view prefix(Strength strength) {
  return strength == Strength::relaxed ? "relaxed " : "";
}

std::string_view held_text(bool hold) { return hold ? ", held in its buffer" : ""; }

std::string_view vain_text(bool works) { return works ? "" : ", in vain"; }

}  // namespace

std::optional<Fault> Execution::fault_at(const Site& site, const FaultSet& sensible) {
  if (options_.mutation) {
    const Mutation& mutation = *options_.mutation;
    if (mutation.site == site && sensible.has(mutation.fault)) return mutation.fault;
    return std::nullopt;
  }
  for (SiteFaults& known : sites_) {
    if (known.site != site) continue;
    known.faults.add(sensible);
    return std::nullopt;
  }
  sites_.push_back({site, sensible});
  return std::nullopt;
}

context::Sequence Execution::load(const Call& call, context::Address flag, Strength strength) {
  if (!enter(call)) return 0;
  machine_.check_flag(call.rank, flag);
  take_turn(call, {&flag, 1}, false);
  const context::Sequence seen = see(call, flag, strength);
  observe(call.rank, seen);
  return seen;
}

context::Sequence Execution::see(const Call& call, context::Address flag, Strength strength) {
  if (trace_.on()) {
    trace_.note(call,
                fmt::format("{}sees {} = {}", prefix(strength), text_of(flag),
                            text_of(machine_.peek(call.rank, flag))),
                {touched(flag, flag_bytes)});
  }
  step(call.rank);
  return machine_.load(call.rank, flag, strength);
}

void Execution::store(const Call& call, context::Address flag, context::Sequence value,
                      Strength strength) {
  if (!enter(call)) return;
  machine_.check_flag(call.rank, flag);
  take_turn(call, {&flag, 1}, true);
  const bool hold = chooses_to_hold(call.rank);
  if (trace_.on()) {
    trace_.note(call,
                fmt::format("{}stores {} = {}{}", prefix(strength), text_of(flag), text_of(value),
                            held_text(hold)),
                {touched(flag, flag_bytes)});
  }
  machine_.store(call.rank, flag, value, strength, hold);
  step(call.rank);
}

context::Sequence Execution::update(const Call& call, context::Address flag, context::Sequence add,
                                    Strength strength) {
  if (!enter(call)) return 0;
  machine_.check_flag(call.rank, flag);
  take_turn(call, {&flag, 1}, true);
  if (!machine_.pending(call.rank).empty()) bring_back_all();
  const bool hold = options_.order == StoreOrder::arm && chooses_to_hold(call.rank);
  if (trace_.on()) {
    const auto signed_add = static_cast<std::int32_t>(add);
    trace_.note(call,
                fmt::format("{}adds {} to {}{}", prefix(strength), signed_add, text_of(flag),
                            held_text(hold)),
                {touched(flag, flag_bytes)});
  }
  const context::Sequence seen = machine_.update(call.rank, flag, add, strength, hold);
  observe(call.rank, seen);
  return seen;
}

void Execution::fence(const Call& call) {
  if (!enter(call)) return;
  take_turn(call, {}, false);
  if (!machine_.pending(call.rank).empty()) bring_back_all();
  if (trace_.on()) trace_.note(call, "fences");
  machine_.fence(call.rank);
  step(call.rank);
}

context::Sequence Execution::wait(const Call& call, context::Address flag,
                                  const Condition& condition, Strength strength) {
  if (!enter(call)) return condition.until.value;
  machine_.check_flag(call.rank, flag);
  Rank& me = of(call.rank);
  me.conditions = {condition};
  me.state = Rank::State::waiting;
  take_turn(call, {&flag, 1}, false);
  me.state = Rank::State::ready;
  return see(call, flag, strength);
}

int Execution::wait_any(const Call& call, std::span<const context::Address> flags,
                        std::vector<Condition> conditions, Strength strength) {
  if (!enter(call)) return 0;
  if (flags.empty()) fail("waits for any of no flags");
  for (const context::Address flag : flags) machine_.check_flag(call.rank, flag);
  Rank& me = of(call.rank);
  me.conditions = std::move(conditions);
  me.state = Rank::State::waiting;
  take_turn(call, flags, false);
  me.state = Rank::State::ready;
  const std::size_t index = chosen_flag(call.rank, holding(call.rank));
  see(call, flags[index], strength);
  observe(call.rank, static_cast<context::Sequence>(index));
  return static_cast<int>(index);
}

void Execution::prefetch_write(const Call& call, context::Address place, std::size_t n) {
  if (enter(call)) machine_.check_reach(call.rank, place, n);
}

void Execution::copy(const Call& call, context::Address to, context::Address from, std::size_t n,
                     bool unfenced) {
  if (!enter(call)) return;
  if (trace_.on()) {
    trace_.note(call,
                fmt::format("copies {} to {}{}", text_of(from, n), text_of(to, n),
                            unfenced ? ", unfenced" : ""),
                {touched(to, n), touched(from, n)});
  }
  machine_.copy(call.rank, to, from, n, unfenced);
}

void Execution::copy_and_own(const Call& call, context::Address to, context::Address from,
                             std::size_t n) {
  if (!enter(call)) return;
  if (trace_.on()) {
    trace_.note(call, fmt::format("takes {} to {}", text_of(from, n), text_of(to, n)),
                {touched(to, n), touched(from, n)});
  }
  machine_.copy_and_own(call.rank, to, from, n);
}

void Execution::own(const Call& call, context::Address place, std::size_t n) {
  if (!enter(call)) return;
  if (trace_.on()) {
    trace_.note(call, fmt::format("keeps {}", text_of(place, n)), {touched(place, n)});
  }
  machine_.own(call.rank, place, n);
}

void Execution::order_callers_stores(const Call& call) {
  if (!enter(call)) return;
  if (trace_.on()) trace_.note(call, "orders what its caller stored");
  machine_.order_callers_stores(call.rank);
}

void Execution::store_as_caller(const Call& call, context::Address place, std::size_t n) {
  if (!enter(call)) return;
  if (trace_.on()) {
    trace_.note(call, fmt::format("has {} stored past the caches", text_of(place, n)),
                {touched(place, n)});
  }
  machine_.store_as_caller(call.rank, place, n);
}

void Execution::reduce(const Call& call, context::Address to, context::Address left,
                       context::Address right, std::size_t count,
                       const memory::Reduction& reduction) {
  if (!enter(call)) return;
  const std::size_t n = count * reduction.element_bytes;
  if (trace_.on()) {
    trace_.note(call,
                fmt::format("reduces {} and {} into {}", text_of(left, n), text_of(right, n),
                            text_of(to, n)),
                {touched(to, n), touched(left, n), touched(right, n)});
  }
  machine_.reduce(call.rank, to, left, right, count, reduction);
}

void Execution::expose(const Call& call, context::Address at, context::Address what) {
  if (!enter(call)) return;
  if (trace_.on()) {
    trace_.note(call, fmt::format("exposes {} in {}", text_of(what), text_of(at)),
                {touched(at, context::exposure_bytes)});
  }
  machine_.expose(call.rank, at, what);
}

std::optional<context::Address> Execution::map_exposed(const Call& call, context::Address at) {
  if (!is_reachable(at.owner()) || !enter(call)) return std::nullopt;
  if (trace_.on()) {
    trace_.note(call, fmt::format("reaches what {} exposes", text_of(at)),
                {touched(at, context::exposure_bytes)});
  }
  return machine_.map_exposed(call.rank, at);
}

bool Execution::pull(const Call& call, context::Address to, context::Address at, std::size_t offset,
                     std::size_t n) {
  if (!enter(call)) return true;
  const bool works = path_works(call.rank);
  if (trace_.on()) {
    trace_.note(call,
                fmt::format("pulls {} bytes at {} of what {} exposes to {}{}", n, offset,
                            text_of(at), text_of(to, n), vain_text(works)),
                {touched(to, n), touched(at, context::exposure_bytes)});
  }
  if (works) machine_.pull(call.rank, to, at, offset, n);
  return works;
}

bool Execution::push(const Call& call, context::Address at, std::size_t offset,
                     context::Address from, std::size_t n) {
  if (!enter(call)) return true;
  const bool works = path_works(call.rank);
  if (trace_.on()) {
    trace_.note(call,
                fmt::format("pushes {} to {} bytes behind what {} exposes{}", text_of(from, n),
                            offset, text_of(at), vain_text(works)),
                {touched(from, n), touched(at, context::exposure_bytes)});
  }
  if (works) machine_.push(call.rank, at, offset, from, n);
  return works;
}

void Execution::sleep(const Call& call, context::Address flag, context::Sequence value) {
  if (!enter(call)) return;
  machine_.check_flag(call.rank, flag);
  take_turn(call, {&flag, 1}, false);
  const bool moved_on = see(call, flag, Strength::relaxed) != value;
  observe(call.rank, moved_on ? 1 : 0);
  if (moved_on) return;
  if (trace_.on()) trace_.note(call, fmt::format("sleeps at {}", text_of(flag)));
  Rank& me = of(call.rank);
  me.state = Rank::State::asleep;
  go_on(call.rank);
}

void Execution::wake(const Call& call, context::Address flag) {
  if (!enter(call)) return;
  machine_.check_flag(call.rank, flag);
  take_turn(call, {&flag, 1}, true);
  if (trace_.on()) trace_.note(call, fmt::format("wakes those at {}", text_of(flag)));
  for (Rank& sleeper : ranks_) {
    const bool is_asleep = sleeper.state == Rank::State::asleep;
    if (is_asleep && sleeper.flags.front() == flag) sleeper.state = Rank::State::ready;
  }
  step(call.rank);
}

}  // namespace huddle::check::checker
