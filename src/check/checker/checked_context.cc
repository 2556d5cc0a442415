// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Each operation does what runtime/context/context.h specifies, unless the active mutation plants a
// fault at its call site.
#include "check/checker/checked_context.h"

#include <cerrno>
#include <utility>
#include <vector>

namespace huddle::check::checker {
namespace {

Strength strength_with(std::optional<Fault> fault) {
  return fault == Fault::relaxed ? Strength::relaxed : Strength::ordered;
}

Condition condition_with(std::optional<Fault> fault, context::Until until) {
  if (fault == Fault::too_early) --until.value;
  return {until, fault == Fault::plain_compare};
}

FaultSet faults_of_waiting(context::Until until, int ranks) {
  FaultSet faults{Fault::relaxed, Fault::dropped, Fault::too_early};
  faults.add(Fault::plain_compare, until.kind == context::Until::Kind::reached);
  faults.add(Fault::wrong_owner, ranks > 1);
  return faults;
}

}  // namespace

context::Address CheckedContext::placed(context::Address place) const {
  if (place.owner() != rank_) return place;
  switch (place.region()) {
    case context::Region::input:
      if (!buffers_.in_place) return place + buffers_.input;
      return context::Address{context::Region::output, place.owner(), place.offset} +
             buffers_.output + buffers_.input;
    case context::Region::output:
      return place + buffers_.output;
    case context::Region::shared:
    case context::Region::scratch:
    case context::Region::peer_mapped:
      return place;
  }
  return place;
}

context::Sequence CheckedContext::load(context::Address flag, Where where) {
  const Call call{rank_, {Operation::load, where}};
  FaultSet faults{Fault::relaxed};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::wrong_owner) flag = next_owners(flag);
  return execution_.load(call, flag, strength_with(fault));
}

void CheckedContext::store(context::Address flag, context::Sequence value, Where where) {
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

context::Sequence CheckedContext::fetch_add(context::Address flag, context::Sequence amount,
                                            Where where) {
  return update(Operation::fetch_add, flag, amount, where);
}

context::Sequence CheckedContext::fetch_sub(context::Address flag, context::Sequence amount,
                                            Where where) {
  return update(Operation::fetch_sub, flag, context::Sequence{0} - amount, where);
}

context::Sequence CheckedContext::update(Operation operation, context::Address flag,
                                         context::Sequence add, const Where& where) {
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

void CheckedContext::fence(Where where) {
  const Call call{rank_, {Operation::fence, where}};
  if (execution_.fault_at(call.site, {Fault::dropped}) == Fault::dropped) return;
  execution_.fence(call);
}

ObservedValue CheckedContext::wait(context::Address flag, context::Until until, Where where) {
  return wait_as_planned(flag, until, until, where);
}

ObservedValue CheckedContext::wait_stamped(context::Address flag, context::Until until,
                                           Where where) {
  return wait_as_planned(flag, until, context::until_equal(until.value), where);
}

// `right` is the condition if no fault is planted here.
ObservedValue CheckedContext::wait_as_planned(context::Address flag, context::Until until,
                                              context::Until right, const Where& where) {
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

int CheckedContext::wait_any(std::span<const context::AwaitedFlag> awaited, Where where) {
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
  std::vector<context::Address> flags;
  std::vector<Condition> conditions;
  for (const auto& [flag, until] : awaited) {
    flags.push_back(fault == Fault::wrong_owner ? next_owners(flag) : flag);
    conditions.push_back(condition_with(fault, until));
  }
  return execution_.wait_any(call, flags, std::move(conditions), strength_with(fault));
}

// Waits for one flag after another. A flag may advance further while a later one is awaited.
void CheckedContext::wait_all(std::span<const context::Address> flags, context::Until until,
                              Where where) {
  if (flags.empty()) return;
  const Call call{rank_, {Operation::wait_all, where}};
  FaultSet faults = faults_of_waiting(until, ranks());
  faults.add(Fault::fewer);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) flags = flags.first(flags.size() - 1);
  for (const context::Address flag : flags) {
    const context::Address place = fault == Fault::wrong_owner ? next_owners(flag) : flag;
    execution_.wait(call, place, condition_with(fault, until), strength_with(fault));
  }
}

void CheckedContext::prefetch_write(context::Address place, std::size_t n, Where where) {
  execution_.prefetch_write({rank_, {Operation::prefetch_write, where}}, placed(place), n);
}

void CheckedContext::copy(context::Address to, context::Address from, std::size_t n,
                          memory::CopyKernel kernel, Where where) {
  const Call call{rank_, {Operation::copy, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::unfenced, n > 0 && kernel == memory::CopyKernel::nontemporal &&
                                  to.region() == context::Region::shared);
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1 && to.region() == context::Region::shared);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1 && from.region() == context::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_owner) to = next_owners(to);
  if (fault == Fault::wrong_source) from = next_owners(from);
  execution_.copy(call, placed(to), placed(from), n, fault == Fault::unfenced);
}

void CheckedContext::copy_and_own(context::Address to, context::Address from, std::size_t n,
                                  Where where) {
  const Call call{rank_, {Operation::take, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1 && from.region() == context::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_source) from = next_owners(from);
  execution_.copy_and_own(call, placed(to), placed(from), n);
}

void CheckedContext::own(context::Address place, std::size_t n, Where where) {
  const Call call{rank_, {Operation::keep, where}};
  FaultSet faults{};
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1 && place.region() == context::Region::shared);
  if (execution_.fault_at(call.site, faults) == Fault::wrong_owner) place = next_owners(place);
  execution_.own(call, placed(place), n);
}

void CheckedContext::reduce(context::Address to, context::Address left, context::Address right,
                            std::size_t count, const memory::Reduction& reduction, Where where) {
  const Call call{rank_, {Operation::reduce, where}};
  const bool right_is_shared = right.region() == context::Region::shared;
  const bool some_source = right_is_shared || left.region() == context::Region::shared;
  FaultSet faults{};
  faults.add(Fault::dropped, count > 0);
  faults.add(Fault::fewer, count > 0);
  faults.add(Fault::swapped, count > 0 && !reduction.commutative);
  faults.add(Fault::wrong_owner,
             count > 0 && ranks() > 1 && to.region() == context::Region::shared);
  faults.add(Fault::wrong_source, count > 0 && ranks() > 1 && some_source);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::fewer) --count;
  if (fault == Fault::swapped) std::swap(left, right);
  if (fault == Fault::wrong_owner) to = next_owners(to);
  if (fault == Fault::wrong_source) {
    context::Address& source = right_is_shared ? right : left;
    source = next_owners(source);
  }
  execution_.reduce(call, placed(to), placed(left), placed(right), count, reduction);
}

void CheckedContext::sleep(context::Address flag, context::Sequence value, Where where) {
  execution_.sleep({rank_, {Operation::sleep, where}}, flag, value);
}

void CheckedContext::wake(context::Address flag, Where where) {
  const Call call{rank_, {Operation::wake, where}};
  FaultSet faults{Fault::dropped};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return;
  if (fault == Fault::wrong_owner) flag = next_owners(flag);
  execution_.wake(call, flag);
}

void CheckedContext::order_callers_stores(Where where) {
  const Call call{rank_, {Operation::order_callers_stores, where}};
  if (execution_.fault_at(call.site, {Fault::dropped}) == Fault::dropped) return;
  execution_.order_callers_stores(call);
}

void CheckedContext::store_as_caller(context::Address place, std::size_t n, Where where) {
  execution_.store_as_caller({rank_, {Operation::order_callers_stores, where}}, place, n);
}

bool CheckedContext::expose(context::Address at, context::Address what, Where where) {
  const Call call{rank_, {Operation::expose, where}};
  FaultSet faults{Fault::dropped};
  faults.add(Fault::wrong_owner, ranks() > 1);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::wrong_owner) at = next_owners(at);
  if (fault != Fault::dropped) execution_.expose(call, at, placed(what));
  return execution_.is_reachable(rank_);
}

std::optional<context::Address> CheckedContext::map_exposed(context::Address at, Where where) {
  const Call call{rank_, {Operation::reach, where}};
  FaultSet faults{};
  faults.add(Fault::wrong_source, ranks() > 1 && execution_.is_reachable(at.owner()));
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::wrong_source) at = next_owners(at);
  return execution_.map_exposed(call, at);
}

single_copy::ErrorNumber CheckedContext::pull(context::Address to, context::Address at,
                                              std::size_t offset, std::size_t n, Where where) {
  const Call call{rank_, {Operation::pull, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1);
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1 && to.region() == context::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return single_copy::fine;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_source) at = next_owners(at);
  if (fault == Fault::wrong_owner) to = next_owners(to);
  return execution_.pull(call, placed(to), at, offset, n) ? single_copy::fine : EPERM;
}

single_copy::ErrorNumber CheckedContext::push(context::Address at, std::size_t offset,
                                              context::Address from, std::size_t n, Where where) {
  const Call call{rank_, {Operation::push, where}};
  FaultSet faults{};
  faults.add(Fault::dropped, n > 0);
  faults.add(Fault::fewer, n > 0);
  faults.add(Fault::wrong_owner, n > 0 && ranks() > 1);
  faults.add(Fault::wrong_source, n > 0 && ranks() > 1 && from.region() == context::Region::shared);
  const auto fault = execution_.fault_at(call.site, faults);
  if (fault == Fault::dropped) return single_copy::fine;
  if (fault == Fault::fewer) --n;
  if (fault == Fault::wrong_owner) at = next_owners(at);
  if (fault == Fault::wrong_source) from = next_owners(from);
  return execution_.push(call, at, offset, placed(from), n) ? single_copy::fine : EPERM;
}

}  // namespace huddle::check::checker
