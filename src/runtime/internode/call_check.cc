// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/call_check.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>

#include "runtime/context/errors.h"

namespace huddle::internode {
namespace {

// Marks of messages that belong to no call. Messages of the set-up have mark 0.
constexpr RankWire::Mark notice_mark = 1;
constexpr RankWire::Mark answer_mark = 2;

// With fewer marks, equal calls in a row could have the same mark.
constexpr RankWire::Mark fewest_marks = 16;

// A mark contains some bits about the operation and the root, so that a rank that sees another mark
// knows whether the calls differ only in their sizes. With few marks, it contains the sizes only.
constexpr std::size_t most_kinds = 16;
constexpr std::size_t least_sizes_per_kind = 64;

// Large enough that a late rank of a correct program rarely receives a question.
constexpr int checks_before_questions = 3;

// The interval at which a waiting rank calls check().
constexpr std::int64_t between_readings_ns = 100'000'000;

// A clock that takes a few nanoseconds, with a resolution of some milliseconds.
std::int64_t coarse_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Multiplicative hash: small differences affect all upper bits of the product.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return ((hash ^ value) * 0x9e3779b97f4a7c15U) >> 16 ^ (hash << 7);
}

std::uint64_t hash_of_kind(const team::CallArguments& arguments) {
  return mixed(mixed(1, static_cast<std::uint64_t>(arguments.operation)),
               static_cast<std::uint64_t>(arguments.root));
}

std::span<const std::byte> bytes_of_number(const std::uint64_t& number) {
  return std::as_bytes(std::span(&number, 1));
}

static_assert(CallCheck::first_call_mark > answer_mark);

}  // namespace

CallCheck::CallCheck(RankWire& wire, const NodeMap& map, int rank)
    : wire_(wire), map_(map), rank_(rank) {}

bool CallCheck::is_available() const { return wire_.marks() >= fewest_marks; }

std::size_t CallCheck::kinds() const {
  const std::size_t marks = wire_.marks() - first_call_mark;
  return std::clamp<std::size_t>(marks / least_sizes_per_kind, 1, most_kinds);
}

std::size_t CallCheck::sizes_per_kind() const {
  return (wire_.marks() - first_call_mark) / kinds();
}

// Equal calls in a row have different marks.
RankWire::Mark CallCheck::mark() const {
  const std::size_t sizes = sizes_per_kind();
  const std::uint64_t kind = hash_of_kind(arguments_);
  const std::uint64_t hash = mixed(mixed(kind, arguments_.bytes), arguments_.element_bytes);
  return static_cast<RankWire::Mark>(first_call_mark + kind % kinds() * sizes +
                                     (number_ + hash) % sizes);
}

void CallCheck::begin(const team::CallArguments& arguments) {
  ++number_;
  arguments_ = arguments;
  if (!is_available()) return;
  wire_.set_mark(mark());
  checks_ = 0;
  asked_.clear();
  const std::int64_t now_ns = coarse_clock_ns();
  if (now_ns < next_reading_ns_) return;
  next_reading_ns_ = now_ns + between_readings_ns;
  read_notices();
}

void CallCheck::check() {
  if (!is_available()) return;
  read_notices();
  ++checks_;
  for (const int peer : wire_.awaited()) {
    look_for_other_calls(peer);
    if (checks_ >= checks_before_questions) ask(peer);
  }
}

void CallCheck::read_notices() {
  static_assert(std::is_trivially_copyable_v<Notice>);
  Notice notice;
  const std::span bytes = std::as_writable_bytes(std::span(&notice, 1));
  while (const std::optional<int> from = wire_.read_any(notice_mark, bytes)) {
    if (notice.kind == Kind::question) {
      questions_[*from] = notice;
      continue;
    }
    is_reported_ = true;
    throw context::CallsDiffer(notice.why.text(), notice.are_sizes);
  }
  answer_questions();
}

// A peer sends a question while it waits for a message of its call from this rank. If this rank is
// in a later call, it has sent all messages of the peer's call, so the answer arrives after them.
void CallCheck::answer_questions() {
  for (auto at = questions_.begin(); at != questions_.end();) {
    const auto& [peer, question] = *at;
    if (question.number > number_) {
      ++at;
      continue;
    }
    if (question.number == number_ && question.arguments != arguments_) {
      throw team::difference_of(rank_, arguments_, peer, question.arguments);
    }
    if (question.number < number_) {
      wire_.post(peer, answer_mark, bytes_of_number(question.number));
    }
    at = questions_.erase(at);
  }
}

// Messages of a peer arrive in the order in which they were sent. If one of another call has
// arrived, and a receive of this call matches no message, the peer did not make this call.
void CallCheck::look_for_other_calls(int peer) {
  while (const std::optional<RankWire::Mark> other = wire_.first_unexpected(peer)) {
    if (*other == answer_mark) {
      std::uint64_t number = 0;
      wire_.read(peer, answer_mark, std::as_writable_bytes(std::span(&number, 1)));
      if (number != number_) continue;
    } else if (*other < first_call_mark || *other == mark()) {
      return;
    }
    if (!wire_.cancel_receives(peer)) return;
    const std::size_t sizes = sizes_per_kind();
    const auto kind = [sizes](RankWire::Mark of) { return (of - first_call_mark) / sizes; };
    const bool are_sizes = *other == answer_mark || kind(*other) == kind(mark());
    throw context::CallsDiffer(
        fmt::format("ranks make collective calls that differ: rank {} makes another call than rank "
                    "{}, or one with other arguments",
                    peer, rank_),
        are_sizes);
  }
}

void CallCheck::ask(int peer) {
  if (std::find(asked_.begin(), asked_.end(), peer) != asked_.end()) return;
  asked_.push_back(peer);
  Notice question;
  question.kind = Kind::question;
  question.number = number_;
  question.arguments = arguments_;
  post(peer, question);
}

void CallCheck::post(int peer, const Notice& notice) {
  wire_.post(peer, notice_mark, std::as_bytes(std::span(&notice, 1)));
}

void CallCheck::report(std::string_view why, bool are_sizes) noexcept {
  if (is_reported_ || !is_available()) return;
  is_reported_ = true;
  try {
    Notice notice;
    notice.are_sizes = are_sizes;
    notice.why = team::RankError(why);
    for (int rank = 0; rank < map_.ranks(); ++rank) {
      if (map_.node_of(rank) != map_.node_of(rank_)) post(rank, notice);
    }
    wire_.deliver_posted();
  } catch (const std::exception&) {  // the wire or memory fails: this rank has an error anyway
  }
}

void CallCheck::cancel() noexcept {
  try {
    for (const int peer : wire_.awaited()) wire_.cancel_receives(peer);
  } catch (const std::exception&) {  // as above
  }
}

}  // namespace huddle::internode
