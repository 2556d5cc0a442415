// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every operation does what it says, or what the mutation says.
#include "check/checker/checker_world.h"

#include <cerrno>
#include <utility>
#include <vector>

namespace huddle::verify::checker {
namespace {

Strength strength_with(std::optional<Fault> fault) {
  return fault == Fault::relaxed ? Strength::relaxed : Strength::ordered;
}

Condition condition_with(std::optional<Fault> fault, world::Until until) {
  if (fault == Fault::too_early) --until.value;
  return {until, fault == Fault::plain_compare};
}

FaultSet faults_of_waiting(world::Until until, int ranks) {
  FaultSet faults{Fault::relaxed, Fault::dropped, Fault::too_early};
  faults.add(Fault::plain_compare, until.kind == world::Until::Kind::reached);
  faults.add(Fault::wrong_owner, ranks > 1);
  return faults;
}

}  // namespace

world::Address CheckerWorld::placed(world::Address place) const {
  if (place.owner != rank_) return place;
  switch (place.region) {
    case world::Region::input:
      if (!buffers_.in_place) return place + buffers_.input;
      return world::Address{world::Region::output, place.owner, place.offset} + buffers_.output +
             buffers_.input;
    case world::Region::output:
      return place + buffers_.output;
    case world::Region::shared:
    case world::Region::scratch:
    case world::Region::reached:
      return place;
  }
  return place;
}

world::Sequence CheckerWorld::load(world::Address flag, Where where) {
  const Call call{rank_, {Operation::load, where}};
  FaultSet faults{Fault::relaxed};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::wrong_owner) flag = next_owners(flag);
  return execution_.load(call, flag, strength_with(fault));
}

void CheckerWorld::store(world::Address flag, world::Sequence value, Where where) {
  const Call call{rank_, {Operation::store, where}};
  FaultSet faults{Fault::relaxed, Fault::dropped, Fault::one_more, Fault::one_less};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::one_more) ++value;
  if (fault == Fault::one_less) --value;
  if (fault == Fault::wrong_owner) flag = next_owners(flag);
  execution_.store(call, flag, value, strength_with(fault));
}

world::Sequence CheckerWorld::fetch_add(world::Address flag, world::Sequence amount, Where where) {
  return update(Operation::fetch_add, flag, amount, where);
}

world::Sequence CheckerWorld::fetch_sub(world::Address flag, world::Sequence amount, Where where) {
  return update(Operation::fetch_sub, flag, world::Sequence{0} - amount, where);
}

world::Sequence CheckerWorld::update(Operation operation, world::Address flag, world::Sequence add,
                                     const Where& where) {
  const Call call{rank_, {operation, where}};
  FaultSet faults{Fault::relaxed, Fault::dropped, Fault::one_more, Fault::one_less};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return execution_.load(call, flag, Strength::ordered);
  if (fault == Fault::one_more) ++add;
  if (fault == Fault::one_less) --add;
  if (fault == Fault::wrong_owner) flag = next_owners(flag);
  return execution_.update(call, flag, add, strength_with(fault));
}

void CheckerWorld::fence(Where where) {
  const Call call{rank_, {Operation::fence, where}};
  if (execution_.fault_at(call.site, {Fault::dropped}) == Fault::dropped) return;
  execution_.fence(call);
}

Glance CheckerWorld::wait(world::Address flag, world::Until until, Where where) {
  return wait_as_planned(flag, until, until, where);
}

Glance CheckerWorld::wait_stamped(world::Address flag, world::Until until, Where where) {
  return wait_as_planned(flag, until, world::until_equal(until.value), where);
}

// right: what it waits for if no fault is planted here.
Glance CheckerWorld::wait_as_planned(world::Address flag, world::Until until, world::Until right,
                                     const Where& where) {
  const Call call{rank_, {Operation::wait, where}};
  const auto fault = execution_.fault_at(call.site, faults_of_waiting(until, ranks()));
  if (!fault) until = right;
  if (fault == Fault::dropped) {
    return {execution_, rank_, execution_.load(call, flag, Strength::ordered)};
  }
  if (fault == Fault::wrong_owner) flag = next_owners(flag);
  return {execution_, rank_,
          execution_.wait(call, flag, condition_with(fault, until), strength_with(fault))};
}

int CheckerWorld::wait_any(std::span<const world::AwaitedFlag> awaited, Where where) {
  const Call call{rank_, {Operation::wait_any, where}};
  if (awaited.empty()) return execution_.wait_any(call, {}, {}, Strength::ordered);
  FaultSet faults = faults_of_waiting(awaited.front().until, ranks());
  faults.add(Fault::fewer, awaited.size() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) {
    execution_.load(call, awaited.front().flag, Strength::ordered);
    return 0;
  }
  if (fault == Fault::fewer) awaited = awaited.first(awaited.size() - 1);
  std::vector<world::Address> flags;
  std::vector<Condition> conditions;
  for (const auto& [flag, until] : awaited) {
    flags.push_back(fault == Fault::wrong_owner ? next_owners(flag) : flag);
    conditions.push_back(condition_with(fault, until));
  }
  return execution_.wait_any(call, flags, std::move(conditions), strength_with(fault));
}

// One after another: that a flag moves on while the next one is waited for is allowed.
void CheckerWorld::wait_all(std::span<const world::Address> flags, world::Until until,
                            Where where) {
  if (flags.empty()) return;
  const Call call{rank_, {Operation::wait_all, where}};
  FaultSet faults = faults_of_waiting(until, ranks());
  faults.add(Fault::fewer);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) flags = flags.first(flags.size() - 1);
  for (const world::Address flag : flags) {
    const world::Address place = fault == Fault::wrong_owner ? next_owners(flag) : flag;
    execution_.wait(call, place, condition_with(fault, until), strength_with(fault));
  }
}

void CheckerWorld::prefetch_write(world::Address place, std::size_t n, Where where) {
  execution_.prefetch_write({rank_, {Operation::prefetch_write, where}}, placed(place), n);
}

void CheckerWorld::copy(world::Address to, world::Address from, std::size_t n,
                        memory::CopyKernel kernel, Where where) {
  const Call call{rank_, {Operation::copy, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::unfenced, n > 0 && kernel == memory::CopyKernel::nontemporal &&
                                  to.region == world::Region::shared);
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1 && to.region == world::Region::shared);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1 && from.region == world::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_owner) to = next_owners(to);
  if (fault == Fault::wrong_source) from = next_owners(from);
  execution_.copy(call, placed(to), placed(from), n, fault == Fault::unfenced);
}

void CheckerWorld::take(world::Address to, world::Address from, std::size_t n, Where where) {
  const Call call{rank_, {Operation::take, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1 && from.region == world::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_source) from = next_owners(from);
  execution_.take(call, placed(to), placed(from), n);
}

void CheckerWorld::keep(world::Address place, std::size_t n, Where where) {
  const Call call{rank_, {Operation::keep, where}};
  FaultSet faults{};
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1 && place.region == world::Region::shared);
  if (execution_.fault_at(call.site, faults) == Fault::wrong_owner) place = next_owners(place);
  execution_.keep(call, placed(place), n);
}

void CheckerWorld::reduce(world::Address to, world::Address left, world::Address right,
                          std::size_t count, const memory::Reduction& reduction, Where where) {
  const Call call{rank_, {Operation::reduce, where}};
  const bool right_is_shared = right.region == world::Region::shared;
  const bool some_source = right_is_shared || left.region == world::Region::shared;
  FaultSet faults{};
  faults.add(Fault::dropped, count > 0);
  faults.add(Fault::fewer, count > 0);
  faults.add(Fault::swapped, count > 0 && !reduction.commutative);
  faults.add(Fault::wrong_owner, count > 0 && ranks() > 1 && to.region == world::Region::shared);
  faults.add(Fault::wrong_source, count > 0 && ranks() > 1 && some_source);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) --count;
  if (fault == Fault::swapped) std::swap(left, right);
  if (fault == Fault::wrong_owner) to = next_owners(to);
  if (fault == Fault::wrong_source) {
    world::Address& source = right_is_shared ? right : left;
    source = next_owners(source);
  }
  execution_.reduce(call, placed(to), placed(left), placed(right), count, reduction);
}

void CheckerWorld::sleep(world::Address flag, world::Sequence value, Where where) {
  execution_.sleep({rank_, {Operation::sleep, where}}, flag, value);
}

void CheckerWorld::wake(world::Address flag, Where where) {
  const Call call{rank_, {Operation::wake, where}};
  FaultSet faults{Fault::dropped};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::wrong_owner) flag = next_owners(flag);
  execution_.wake(call, flag);
}

void CheckerWorld::order_callers_stores(Where where) {
  const Call call{rank_, {Operation::order_callers_stores, where}};
  if (execution_.fault_at(call.site, {Fault::dropped}) == Fault::dropped) return;
  execution_.order_callers_stores(call);
}

void CheckerWorld::store_as_caller(world::Address place, std::size_t n, Where where) {
  execution_.store_as_caller({rank_, {Operation::order_callers_stores, where}}, place, n);
}

bool CheckerWorld::expose(world::Address at, world::Address what, Where where) {
  const Call call{rank_, {Operation::expose, where}};
  FaultSet faults{Fault::dropped};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::wrong_owner) at = next_owners(at);
  if (fault != Fault::dropped) execution_.expose(call, at, placed(what));
  return execution_.is_reachable(rank_);
}

std::optional<world::Address> CheckerWorld::reach(world::Address at, Where where) {
  const Call call{rank_, {Operation::reach, where}};
  FaultSet faults{};
  faults.add(Fault::wrong_source, ranks() > 1 && execution_.is_reachable(at.owner));
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::wrong_source) at = next_owners(at);
  return execution_.reach(call, at);
}

single_copy::ErrorNumber CheckerWorld::pull(world::Address to, world::Address at,
                                            std::size_t offset, std::size_t n, Where where) {
  const Call call{rank_, {Operation::pull, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1);
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1 && to.region == world::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return single_copy::fine;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_source) at = next_owners(at);
  if (fault == Fault::wrong_owner) to = next_owners(to);
  return execution_.pull(call, placed(to), at, offset, n) ? single_copy::fine : EPERM;
}

single_copy::ErrorNumber CheckerWorld::push(world::Address at, std::size_t offset,
                                            world::Address from, std::size_t n, Where where) {
  const Call call{rank_, {Operation::push, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1 && from.region == world::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return single_copy::fine;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_owner) at = next_owners(at);
  if (fault == Fault::wrong_source) from = next_owners(from);
  return execution_.push(call, at, offset, placed(from), n) ? single_copy::fine : EPERM;
}

}  // namespace huddle::verify::checker
