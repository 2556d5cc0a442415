// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "check/counting/round.h"

#include <algorithm>
#include <cstring>

#include "common/error.h"

namespace huddle::check::counting {

Caches::Caches(int ranks, std::size_t bytes, Counts& counts)
    : lines_((bytes + line_bytes - 1) / line_bytes,
             Line{nobody, std::vector<bool>(static_cast<std::size_t>(ranks))}),
      counts_(counts) {}

void Caches::read(int rank, std::size_t first, std::size_t n) {
  each_line(first, n, [&](Line& line) { fetch(rank, line); });
}

void Caches::write(int rank, std::size_t first, std::size_t n) {
  each_line(first, n, [&](Line& line) {
    fetch(rank, line);
    line.holders.assign(line.holders.size(), false);
    line.holders[static_cast<std::size_t>(rank)] = true;
    line.writer = rank;
  });
}

template <class Touch>
void Caches::each_line(std::size_t first, std::size_t n, Touch touch) {
  if (n == 0) return;
  for (std::size_t i = first / line_bytes; i <= (first + n - 1) / line_bytes; ++i) touch(lines_[i]);
}

void Caches::fetch(int rank, Line& line) {
  const auto me = static_cast<std::size_t>(rank);
  if (!line.holders[me] && line.writer != nobody) counts_.add_transfer(line.writer, rank);
  line.holders[me] = true;
}

Round::Round(const Job& job)
    : job_(job),
      memory_(job.ranks, job.sizes, job.first),
      counts_(job.ranks),
      caches_(job.ranks, static_cast<std::size_t>(job.ranks) * job.sizes.shared, counts_),
      fibers_(job.ranks),
      begun_(static_cast<std::size_t>(job.ranks)),
      ended_(begun_),
      last_seen_(begun_.size()) {
  if (job.prepare) job.prepare(memory_);
}

void Round::run() {
  const context::Fibers::Body body = [this](int rank) { return live(rank); };
  fibers_.run(0, body);
  if (error_) std::rethrow_exception(error_);
  if (job_.look) job_.look(memory_);
}

int Round::live(int rank) {
  begun_[static_cast<std::size_t>(rank)] = true;
  if (!error_) {
    try {
      CountedContext world(*this, rank);
      job_.body(world);
      looks_in_vain_ = 0;
    } catch (const Abandoned&) {
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }
  ended_[static_cast<std::size_t>(rank)] = true;
  return next_after(rank);
}

// Returns the next rank that has not ended, or the host if all have. After a failure, selects only
// ranks whose stack must be unwound.
int Round::next_after(int rank) const {
  for (int step = 1; step <= job_.ranks; ++step) {
    const int next = (rank + step) % job_.ranks;
    const auto i = static_cast<std::size_t>(next);
    if (!ended_[i] && (begun_[i] || !error_)) return next;
  }
  return context::Fibers::host;
}

void Round::pass_on(int rank) {
  looks_in_vain_ = 0;
  give_turn(rank);
}

void Round::pass_on_in_vain(int rank) {
  const auto alive = std::count(ended_.begin(), ended_.end(), false);
  if (++looks_in_vain_ > alive) {
    throw FailureError("all ranks are blocked: each waits for another one");
  }
  give_turn(rank);
}

void Round::give_turn(int rank) {
  fibers_.switch_to(next_after(rank));
  if (error_) throw Abandoned{};
}

context::Sequence Round::look(int rank, context::Address flag) {
  context::Sequence value = 0;
  std::memcpy(&value, read(rank, flag, sizeof value).data(), sizeof value);
  auto [seen, is_first] =
      last_seen_[static_cast<std::size_t>(rank)].try_emplace(memory_.index(flag), job_.first);
  if (seen->second != value) ++of(rank).loads;
  seen->second = value;
  return value;
}

void Round::put(int rank, context::Address flag, context::Sequence value) {
  std::array<std::byte, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  write(rank, flag, bytes);
  last_seen_[static_cast<std::size_t>(rank)][memory_.index(flag)] = value;
}

std::span<const std::byte> Round::read(int rank, context::Address place, std::size_t n) {
  require_reach(rank, place, n);
  if (is_shared(place)) caches_.read(rank, memory_.index(place), n);
  return memory_.read(place, n);
}

void Round::write(int rank, context::Address place, std::span<const std::byte> bytes) {
  require_reach(rank, place, bytes.size());
  if (is_shared(place)) caches_.write(rank, memory_.index(place), bytes.size());
  memory_.write(place, bytes);
}

void Round::require_reach(int rank, context::Address place, std::size_t n) const {
  const int as = lets_reach() ? place.owner() : rank;
  if (const auto refusal = memory_.refusal(as, place, n)) throw UsageError(*refusal);
}

}  // namespace huddle::check::counting
