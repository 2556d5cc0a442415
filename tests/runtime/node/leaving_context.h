// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A checked context in which a rank may leave during a call, as it does when it learns of a peer's
// death: its next wait throws. From then on every wait of the other ranks may throw as well.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "check/checker/checker.h"
#include "runtime/context/errors.h"

namespace huddle::node::test {

using check::checker::CheckedContext;
using check::checker::Where;
using context::Address;
using context::AwaitedFlag;
using context::Sequence;
using context::Until;

// A flag that satisfies no wait of a protocol at first, and every wait later.
class News {
 public:
  explicit News(Address flag) : flag_(flag) {}

  static void prepare(std::span<std::byte> flag) { std::memcpy(flag.data(), &none, sizeof none); }
  void tell(CheckedContext& ctx) const { ctx.store(flag_, some); }
  Address flag() const { return flag_; }

 private:
  // Both values are far from the initial value of the flags, on opposite sides of it.
  static constexpr Sequence far = Sequence{1} << 30;
  static constexpr Sequence none = check::checker::just_below_wrap - far;
  static constexpr Sequence some = check::checker::just_below_wrap + far;

  Address flag_;
};

class LeavingContext {
 public:
  // Leaves at the wait that follows `waits` other ones, if set.
  LeavingContext(CheckedContext& ctx, const News& news, std::optional<int> waits)
      : w_(ctx), news_(news), waits_(waits) {}

  int rank() const { return w_.rank(); }
  int ranks() const { return w_.ranks(); }

  // No errors are planted into this wait; other tests plant them into ordinary waits.
  int wait_any(std::span<const AwaitedFlag> awaited) {
    if (waits_ && (*waits_)-- == 0) {
      news_.tell(w_);
      throw context::PeerLost("this rank leaves");
    }
    std::vector<AwaitedFlag> all(awaited.begin(), awaited.end());
    all.push_back({news_.flag(), awaited.front().until});
    const int found = w_.wait_any(all);
    if (found == static_cast<int>(awaited.size())) throw context::PeerLost("this rank hears of it");
    return found;
  }
  Sequence wait(Address flag, Until until) {
    wait_any(std::array{AwaitedFlag{flag, until}});
    return w_.load(flag);
  }
  void store_stamped(Address flag, Sequence value, Where where = Where::current()) {
    w_.store_stamped(flag, value, where);
  }
  Sequence wait_stamped(Address flag, Until until) { return wait(flag, until); }
  void record_stamp(Address place) { w_.record_stamp(place); }
  void compare_stamp(Address place) { w_.compare_stamp(place); }
  void wait_or_owner_death(Address flag, Until until, Where where = Where::current()) {
    w_.wait(flag, until, where);
  }

  // The other operations are unchanged.
  Sequence load(Address flag, Where where = Where::current()) { return w_.load(flag, where); }
  void store(Address flag, Sequence value, Where where = Where::current()) {
    w_.store(flag, value, where);
  }
  Sequence fetch_add(Address flag, Sequence amount, Where where = Where::current()) {
    return w_.fetch_add(flag, amount, where);
  }
  Sequence fetch_sub(Address flag, Sequence amount, Where where = Where::current()) {
    return w_.fetch_sub(flag, amount, where);
  }
  void fence(Where where = Where::current()) { w_.fence(where); }
  void wait_all(std::span<const Address> flags, Until until, Where where = Where::current()) {
    w_.wait_all(flags, until, where);
  }
  void prefetch_write(Address place, std::size_t n, Where where = Where::current()) {
    w_.prefetch_write(place, n, where);
  }
  void copy(Address to, Address from, std::size_t n, memory::CopyKernel kernel,
            Where where = Where::current()) {
    w_.copy(to, from, n, kernel, where);
  }
  void copy_and_own(Address to, Address from, std::size_t n, Where where = Where::current()) {
    w_.copy_and_own(to, from, n, where);
  }
  void own(Address place, std::size_t n, Where where = Where::current()) {
    w_.own(place, n, where);
  }
  void reduce(Address to, Address left, Address right, std::size_t count,
              const memory::Reduction& reduction, Where where = Where::current()) {
    w_.reduce(to, left, right, count, reduction, where);
  }
  bool expose(Address at, Address what, Where where = Where::current()) {
    return w_.expose(at, what, where);
  }
  void order_callers_stores(Where where = Where::current()) { w_.order_callers_stores(where); }
  std::optional<Address> map_exposed(Address at, Where where = Where::current()) {
    return w_.map_exposed(at, where);
  }
  single_copy::ErrorNumber pull(Address to, Address at, std::size_t offset, std::size_t n,
                                Where where = Where::current()) {
    return w_.pull(to, at, offset, n, where);
  }
  single_copy::ErrorNumber push(Address at, std::size_t offset, Address from, std::size_t n,
                                Where where = Where::current()) {
    return w_.push(at, offset, from, n, where);
  }

 private:
  CheckedContext& w_;
  const News& news_;
  std::optional<int> waits_;
};
static_assert(context::SingleCopyContext<LeavingContext>);

}  // namespace huddle::node::test
