// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a team is made from: a way for its members to give each other a few bytes, once.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/calling_thread.h"

namespace huddle::team {

// Every member calls it with the same number of bytes; all receives everybody's, in rank order.
// Throws FailureError where a member cannot be reached.
using Allgather = std::function<void(std::span<const std::byte> mine, std::span<std::byte> all)>;

struct Bootstrap {
  int rank = 0;
  int ranks = 1;
  Allgather allgather;
};

// How the members of a team fail together: each tells the others whether its part went well, and
// all of them throw the same error, or none does.

// Why a rank cannot go on, in a fixed number of bytes, so that it can be gathered. Empty: it can.
class Trouble {
 public:
  Trouble() = default;
  // Cut where it is too long.
  explicit Trouble(std::string_view text);
  // Takes the step; what it throws becomes the trouble.
  template <class Step>
  static Trouble of(Step&& step);
  // That rank's, as it is told: "rank 1: ...". Takes no memory.
  static Trouble of_rank(std::size_t rank, const Trouble& trouble);

  bool is_any() const { return text_[0] != '\0'; }
  std::string_view text() const;

 private:
  std::array<char, 200> text_{};
};

// A template, so that no memory is needed to say that there is none.
template <class Step>
Trouble Trouble::of(Step&& step) {
  try {
    std::forward<Step>(step)();
    return {};
  } catch (const std::exception& error) {
    return Trouble(error.what());
  } catch (const ThreadEnd&) {
    throw;
  } catch (...) {
    return Trouble("a callback threw something that is no std::exception");
  }
}

// Throws FailureError, also where there is no memory: the trouble is that rank's.
[[noreturn]] void throw_of(std::size_t rank, const Trouble& trouble);

// Throws FailureError with the trouble of the lowest rank that has any.
void throw_first(std::span<const Trouble> by_rank);
// The same where it is a part of what each rank told. Takes no memory where there is no trouble.
template <class T>
void throw_first(std::span<const T> by_rank, Trouble T::*trouble) {
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    if ((by_rank[rank].*trouble).is_any()) throw_of(rank, by_rank[rank].*trouble);
  }
}

// Calls `use` with room for one T of each rank, without memory from the heap. Throws std::bad_alloc
// if there are very many ranks. Not inlined: only its own frame is large.
template <class T, class Use>
[[gnu::noinline]] auto use_room_on_stack(std::size_t ranks, Use& use) {
  std::array<T, 256> few{};
  if (ranks > few.size()) throw std::bad_alloc();
  return use(std::span<T>(few).first(ranks));
}

// Calls `use` with room for one T of each rank. The room is on the heap, because threads of
// programs may have little stack. Without memory it is on the stack, so that a rank can still tell
// the others that it has none.
template <class T, class Use>
auto with_room_by_rank(int ranks, Use&& use) {
  const auto count = static_cast<std::size_t>(ranks);
  if (const std::unique_ptr<T[]> room(new (std::nothrow) T[count]()); room) {
    return use(std::span<T>(room.get(), count));
  }
  return use_room_on_stack<T>(count, use);
}

// Everybody's value, by rank. pre: T is the same on all ranks; `all` has room for one of each.
template <class T>
requires std::is_trivially_copyable_v<T>
void gather_to(std::span<T> all, const Bootstrap& bootstrap, const T& mine) {
  bootstrap.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(all));
}
// The same into memory that it takes: a rank that gets none throws before it has told the others
// anything, and they wait for it.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> gather(const Bootstrap& bootstrap,
                                                               const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(bootstrap.ranks));
  gather_to(std::span(all), bootstrap, mine);
  return all;
}

// The whole of it: one allgather, whatever happens. After it all have done the step, or all throw.
template <class Step>
void agree(const Bootstrap& bootstrap, Step&& step) {
  throw_first(gather(bootstrap, Trouble::of(std::forward<Step>(step))));
}
// The same in memory that was there before: with room for one of each rank.
template <class Step>
void agree(std::span<Trouble> room, const Bootstrap& bootstrap, Step&& step) {
  gather_to(room, bootstrap, Trouble::of(std::forward<Step>(step)));
  throw_first(room);
}

}  // namespace huddle::team
