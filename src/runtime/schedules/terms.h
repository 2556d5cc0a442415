// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a place holds while a schedule is checked: nothing, a block as it was contributed, or the
// contributions that were joined to it. Each distinct one has a number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace huddle::net {

using Term = std::uint32_t;
inline constexpr Term no_term = 0;
// Taken while a message comes in.
inline constexpr Term term_in_flight = ~Term{0};

// Of a reduction that keeps order: expressions with all their brackets. A rank's own contribution
// has its number and one.
class Brackets {
 public:
  explicit Brackets(int ranks);

  static Term leaf(int rank) { return static_cast<Term>(rank) + 1; }
  Term join(Term left, Term right);
  // What all should come to.
  Term of_all();
  // What ranks should come to in a scan, inclusive or not.
  std::vector<Term> prefixes(bool inclusive);
  std::string text(Term term) const;  // "((0 1) 2)"

 private:
  struct Joined {
    Term right;
    Term term;
  };
  int ranks_;
  std::vector<std::pair<Term, Term>> parts_;      // by term
  std::vector<std::vector<Joined>> joined_with_;  // by the left one; as a rule there is one
};

// Of a reduction in any order: which ranks have contributed. Ranks that follow each other round the
// circle are written into the number itself.
class Contributors {
 public:
  explicit Contributors(int ranks) : ranks_(ranks) {}

  static Term leaf(int ranks, int rank) {
    return static_cast<Term>(rank) * static_cast<Term>(ranks + 1) + 1;
  }
  // Nothing where a rank would have contributed twice.
  std::optional<Term> join(Term left, Term right);
  Term of_all() const { return in_a_row(0, ranks_); }
  std::string text(Term term) const;  // "3..5 8"

 private:
  using Intervals = std::vector<std::pair<int, int>>;  // first, last; in order, apart

  Term in_a_row(int first, int count) const;
  Intervals intervals(Term term) const;
  Term number_of(const Intervals& intervals);

  int ranks_;
  std::map<Intervals, Term> numbers_;
  std::vector<Intervals> others_;
};

}  // namespace huddle::net
