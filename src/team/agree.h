// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How the members of a team fail together: each tells the others whether its part went well, and
// all of them throw the same error, or none does.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "team/bootstrap.h"

namespace huddle::team {

// Why a rank cannot go on, in a fixed number of bytes, so that it can be gathered. Empty: it can.
class Trouble {
 public:
  Trouble() = default;
  // Cut where it is too long.
  explicit Trouble(std::string_view text);
  // Takes the step; what it throws becomes the trouble.
  static Trouble of(const std::function<void()>& step);

  bool is_any() const { return text_[0] != '\0'; }
  std::string_view text() const;

 private:
  std::array<char, 200> text_{};
};

// Throws FailureError with the trouble of the lowest rank that has any.
void throw_first(std::span<const Trouble> by_rank);

// Everybody's value, by rank. pre: T is the same on all ranks.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> gather(const Bootstrap& bootstrap,
                                                               const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(bootstrap.ranks));
  bootstrap.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

// The whole of it: one allgather, whatever happens. After it all have done the step, or all throw.
void agree(const Bootstrap& bootstrap, const std::function<void()>& step);

}  // namespace huddle::team
