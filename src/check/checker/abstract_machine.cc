// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/abstract_machine.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "check/checker/memory.h"
#include "check/checker/site.h"

namespace huddle::check::checker {
namespace {

context::Sequence sequence_in(std::span<const std::byte> bytes) {
  context::Sequence value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::vector<std::byte> bytes_of(context::Sequence value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

Machine::Machine(Memory& memory, StoreOrder order, ErrorReporter& errors)
    : memory_(memory),
      errors_(errors),
      order_(order),
      flags_(memory.ranks(), memory.all_bytes()),
      accesses_(memory.ranks(), memory.all_bytes(), flags_) {
  begin_execution();
}

void Machine::begin_execution() {
  memory_.restore_image();
  flags_.forget();
  accesses_.forget();
  cores_.assign(static_cast<std::size_t>(memory_.ranks()), Core(memory_.ranks(), order_));
  watched_.assign((static_cast<std::size_t>(context::Region::scratch) + 1) * cores_.size(), false);
  reached_.assign(cores_.size(), watched_);
}

context::Sequence Machine::peek(int rank, context::Address flag) const {
  if (buffer(rank).empty()) return sequence_in(memory_.read(flag, flag_bytes));
  std::vector<std::byte> bytes = bytes_of(sequence_in(memory_.read(flag, flag_bytes)));
  buffer(rank).lay_over(memory_.index(flag), bytes);
  return sequence_in(bytes);
}

context::Sequence Machine::load(int rank, context::Address flag, Strength strength) {
  const std::size_t byte = memory_.index(flag);
  const context::Sequence seen = peek(rank, flag);
  if (!buffer(rank).has_flag(byte, flag_bytes)) learn(rank, flags_.at(byte).carried, strength);
  core(rank).buffer.note_passed();
  if (flags_.note_load(byte)) touch(rank);
  require(accesses_.load(rank, byte, core(rank).known));
  return seen;
}

void Machine::store(int rank, context::Address flag, context::Sequence value, Strength strength,
                    bool hold) {
  Core& mine = core(rank);
  const std::size_t byte = memory_.index(flag);
  if (flags_.note_store(byte, rank)) touch(rank);
  require(accesses_.store(rank, byte, mine.known));
  PendingStore store = flag_store(rank, flag, value, strength);
  store.is_held = hold;
  if (hold || mine.buffer.must_queue(byte, flag_bytes, store.is_release)) {
    mine.buffer.push(std::move(store));
  } else {
    mine.buffer.note_passed();
    commit(store);
  }
}

// An update is both a load and a store. Other ranks see all earlier stores of this rank before it,
// and its value carries everything that the flag's previous value carried (a release sequence).
context::Sequence Machine::update(int rank, context::Address flag, context::Sequence add,
                                  Strength strength, bool hold) {
  drain(rank);
  Core& mine = core(rank);
  const std::size_t byte = memory_.index(flag);
  finish_updates(byte);
  Flag& state = flags_.at(byte);
  const context::Sequence seen = sequence_in(memory_.read(flag, flag_bytes));
  learn(rank, state.carried, strength);
  if (flags_.note_store(byte, rank)) touch(rank);
  require(accesses_.update(rank, byte, mine.known));
  PendingStore store = flag_store(rank, flag, seen + add, strength);
  store.carried.combine(state.carried);
  store.is_update = true;
  store.is_held = hold;
  if (hold) {
    mine.buffer.push(std::move(store));
  } else {
    commit(store);
  }
  return seen;
}

void Machine::fence(int rank) {
  drain(rank);
  order_callers_stores(rank);
  Core& mine = core(rank);
  mine.known.combine(mine.unacquired);
  mine.fenced = mine.known;
  mine.has_published = true;
}

void Machine::order_callers_stores(int rank) {
  Core& mine = core(rank);
  mine.known.set(memory_.ranks() + rank, mine.nontemporal_time);
  mine.has_fenced = true;
}

void Machine::copy(int rank, context::Address to, context::Address from, std::size_t n,
                   bool unfenced) {
  check_reach(rank, to, n);
  check_reach(rank, from, n);
  require_apart(to, from, n);
  write(rank, to, read(rank, from, n), unfenced);
}

void Machine::copy_and_own(int rank, context::Address to, context::Address from, std::size_t n) {
  copy(rank, to, from, n, false);
  own(rank, from, n);
}

void Machine::own(int rank, context::Address place, std::size_t n) {
  check_reach(rank, place, n);
  write(rank, place, read(rank, place, n), false);
}

void Machine::store_as_caller(int rank, context::Address place, std::size_t n) {
  check_reach(rank, place, n);
  watched_[exposed_at(place)] = true;
  write(rank, place, read(rank, place, n), true);
}

void Machine::reduce(int rank, context::Address to, context::Address left, context::Address right,
                     std::size_t count, const memory::Reduction& reduction) {
  const std::size_t n = count * reduction.element_bytes;
  for (const context::Address place : {to, left, right}) check_reach(rank, place, n);
  if (to != left) require_apart(to, left, n);
  if (to != right) require_apart(to, right, n);
  const std::vector<std::byte> left_bytes = read(rank, left, n);
  const std::vector<std::byte> right_bytes = read(rank, right, n);
  std::vector<std::byte> result(n);
  reduction(result.data(), left_bytes.data(), right_bytes.data(), count);
  write(rank, to, std::move(result), false);
}

void Machine::expose(int rank, context::Address at, context::Address what) {
  check_reach(rank, at, context::exposure_bytes);
  if (at.region() != context::Region::shared) {
    errors_.fail(fmt::format("{}: what is exposed is told in shared memory", text_of(at)));
  }
  if (what.owner() != rank) {
    errors_.fail(fmt::format("rank {} exposes {}, which is not its own", rank, text_of(what)));
  }
  const auto bytes = encoded(what);
  write(rank, at, {bytes.begin(), bytes.end()}, false);
  watched_[exposed_at(what)] = true;
}

context::Address Machine::map_exposed(int rank, context::Address at) {
  const context::Address exposed = what_is_exposed(rank, at);
  reached_[static_cast<std::size_t>(rank)][exposed_at(exposed)] = true;
  return exposed;
}

void Machine::pull(int rank, context::Address to, context::Address at, std::size_t offset,
                   std::size_t n) {
  const context::Address from = what_is_exposed(rank, at) + offset;
  check_reach(from.owner(), from, n);
  check_reach(rank, to, n);
  require_apart(to, from, n);
  write(rank, to, read(rank, from, n), false);
}

void Machine::push(int rank, context::Address at, std::size_t offset, context::Address from,
                   std::size_t n) {
  const context::Address to = what_is_exposed(rank, at) + offset;
  check_reach(to.owner(), to, n);
  check_reach(rank, from, n);
  require_apart(to, from, n);
  write(rank, to, read(rank, from, n), false);
}

bool Machine::has_reached(int rank, context::Address place) const {
  const auto& reached = reached_[static_cast<std::size_t>(rank)];
  const std::size_t at = exposed_at(place);
  return place.region() != context::Region::shared && at < reached.size() && reached[at];
}

void Machine::check_reach(int rank, context::Address place, std::size_t n) const {
  const int as = has_reached(rank, place) ? place.owner() : rank;
  if (const auto refusal = memory_.refusal(as, place, n)) errors_.fail(*refusal);
}

void Machine::check_flag(int rank, context::Address place) const {
  check_reach(rank, place, flag_bytes);
  if (place.region() != context::Region::shared) {
    errors_.fail(fmt::format("{}: flags live in shared memory", text_of(place)));
  }
  if (place.offset % flag_bytes != 0) {
    errors_.fail(fmt::format("{}: a flag is aligned to {} bytes", text_of(place), flag_bytes));
  }
}

void Machine::let_go(int rank, std::size_t index) {
  core(rank).buffer.let_go(index);
  commit_ready(rank);
}

void Machine::drain(int rank) {
  while (!buffer(rank).empty()) commit(core(rank).buffer.take_oldest());
}

std::uint64_t Machine::digest() const {
  std::uint64_t digest = mixed(memory_.digest(), flags_.digest());
  for (const Core& core : cores_) {
    digest = mixed(digest, core.known.digest());
    digest = mixed(digest, core.fenced.digest());
    digest = mixed(digest, core.unacquired.digest());
    for (const PendingStore& store : core.buffer.pending()) digest = mixed(digest, store.digest());
    digest = mixed(digest, core.buffer.pending().size());
  }
  return digest;
}

PendingStore Machine::flag_store(int rank, context::Address flag, context::Sequence value,
                                 Strength strength) {
  PendingStore store;
  store.place = flag;
  store.first = memory_.index(flag);
  store.bytes = bytes_of(value);
  store.is_flag = true;
  store.is_release = strength == Strength::ordered;
  store.carried = store.is_release ? core(rank).known : core(rank).fenced;
  core(rank).has_published |= store.is_release;
  return store;
}

void Machine::learn(int rank, const Clock& carried, Strength strength) {
  (strength == Strength::ordered ? core(rank).known : core(rank).unacquired).combine(carried);
}

// Advances the rank's time if it has published since its last access: peers that have acquired that
// time do not know of the accesses that follow.
void Machine::touch(int rank) {
  Core& mine = core(rank);
  if (std::exchange(mine.has_published, false)) mine.known.set(rank, mine.known.at(rank) + 1);
}

void Machine::commit(const PendingStore& store) {
  memory_.write(store.place, store.bytes);
  if (!store.is_flag) return;
  Flag& state = flags_.at(store.first);
  state.is_stored = true;
  state.carried = store.carried;
}

// Commits pending updates of this flag, because no other update may come between the load and the
// store of a read-modify-write.
void Machine::finish_updates(std::size_t byte) {
  for (int rank = 0; rank < memory_.ranks(); ++rank) {
    const auto store = core(rank).buffer.take_update(byte);
    if (!store) continue;
    commit(*store);
    commit_ready(rank);
  }
}

void Machine::commit_ready(int rank) {
  while (const auto store = core(rank).buffer.take_ready()) commit(*store);
}

std::vector<std::byte> Machine::read(int rank, context::Address place, std::size_t n) {
  const auto in_memory = memory_.read(place, n);
  std::vector<std::byte> bytes(in_memory.begin(), in_memory.end());
  if (!is_watched(place)) return bytes;
  const std::size_t first = memory_.index(place);
  buffer(rank).lay_over(first, bytes);
  flags_.note_data(first, n);
  touch(rank);
  require(accesses_.read(rank, first, n, core(rank).known));
  return bytes;
}

void Machine::write(int rank, context::Address place, std::vector<std::byte> bytes, bool unfenced) {
  if (!is_watched(place) || bytes.empty()) {
    memory_.write(place, bytes);
    return;
  }
  Core& mine = core(rank);
  const std::size_t first = memory_.index(place);
  flags_.note_data(first, bytes.size());
  touch(rank);
  if (unfenced && std::exchange(mine.has_fenced, false)) ++mine.nontemporal_time;
  const int agent = unfenced ? memory_.ranks() + rank : rank;
  const Time time = unfenced ? mine.nontemporal_time : mine.known.at(rank);
  require(accesses_.write(rank, agent, time, first, bytes.size(), mine.known));
  PendingStore store;
  store.place = place;
  store.first = first;
  store.bytes = std::move(bytes);
  // Queues the store only behind the rank's own pending stores. A reader is ordered after this
  // store (otherwise it races), so it cannot observe when exactly the bytes became visible.
  if (mine.buffer.must_queue(first, store.bytes.size(), false)) {
    mine.buffer.push(std::move(store));
  } else {
    commit(store);
  }
}

// Returns the address that is exposed at `at`.
context::Address Machine::what_is_exposed(int rank, context::Address at) {
  check_reach(rank, at, context::exposure_bytes);
  const auto exposed = exposed_address(at.owner(), read(rank, at, context::exposure_bytes));
  if (!exposed) errors_.fail(fmt::format("{} exposes nothing", text_of(at)));
  return *exposed;
}

void Machine::require_apart(context::Address to, context::Address from, std::size_t n) const {
  const bool same_part = to.region() == from.region() && to.owner() == from.owner();
  if (same_part && to.offset < from.offset + n && from.offset < to.offset + n) {
    errors_.fail(fmt::format("{} and {} overlap", text_of(to, n), text_of(from, n)));
  }
}

}  // namespace huddle::check::checker
