// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The buffers of all ranks while a schedule is checked: a term for each block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/schedules/check.h"

namespace huddle::schedules {

// What a place holds while a schedule is checked: nothing, a block as it was contributed, or the
// contributions that were joined to it. Each distinct one has a number.

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

// Thrown where a schedule is caught, told by flaw_in().
struct Flaw : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A buffer: a term for each of its places. Everything goes by intervals of blocks.
class Image {
 public:
  // Of the blocks from `first` on.
  static Image of_interval(std::int64_t first, std::int64_t count) { return {first, count, false}; }
  // Any block has its place, whose last one it then is.
  static Image of_scratch(std::int64_t count) { return {0, count, true}; }

  // The first of these blocks that has no place here beside those before it; nothing where all
  // have one.
  std::optional<std::int64_t> missing(std::int64_t first, std::int64_t count) const;
  // What is there of a block. pre: it is not missing, as below.
  Term get(std::int64_t block) const;

  // Action: (block, what is at its place, of whichever block that is).
  template <typename Action>
  void for_each(std::int64_t first, std::int64_t count, const Action& action) const {
    for_each_piece(first, count, [&](std::int64_t block, std::size_t at, std::int64_t many) {
      const Term* const terms = terms_.data() + at;
      for (std::int64_t i = 0; i < many; ++i) action(block + i, terms[i]);
    });
  }
  // Appends what is there.
  void read(std::int64_t first, std::int64_t count, std::vector<Term>& terms) const;
  // From where `terms` points on.
  void write(std::int64_t first, std::int64_t count, const Term* terms);
  void fill(std::int64_t first, std::int64_t count, Term term);

 private:
  Image(std::int64_t first, std::int64_t count, bool is_scratch)
      : first_(first),
        is_scratch_(is_scratch),
        terms_(static_cast<std::size_t>(count), no_term),
        owners_(is_scratch ? static_cast<std::size_t>(count) : 0) {}

  std::size_t place(std::int64_t block) const {
    const auto at = static_cast<std::size_t>(block - first_);
    return is_scratch_ ? at % terms_.size() : at;
  }
  // Scratch goes round. Action: (first block, its place, how many have places in a row).
  template <typename Action>
  void for_each_piece(std::int64_t first, std::int64_t count, const Action& action) const {
    const auto places = static_cast<std::int64_t>(terms_.size());
    for (std::int64_t block = first; block < first + count;) {
      const std::size_t at = place(block);
      const std::int64_t many =
          std::min(first + count - block, places - static_cast<std::int64_t>(at));
      action(block, at, many);
      block += many;
    }
  }
  void own(std::int64_t block, std::size_t at, std::int64_t many);

  std::int64_t first_;
  bool is_scratch_;
  std::vector<Term> terms_;
  std::vector<std::int64_t> owners_;  // of scratch
};

class CheckMemory {
 public:
  explicit CheckMemory(const Proof& proof);

  // Appends what is there. Throws Flaw.
  void read(int rank, const Part& part, std::vector<Term>& terms);
  // Marks the places as taken by a message that comes in. Throws Flaw.
  void take(int rank, const Part& part);
  // From where `terms` points on.
  void write(int rank, const Part& part, const Term* terms);
  // One place of the output; nothing where the rank has none.
  Term output(int rank, std::int64_t block) const;

 private:
  // In place the input is where the output is.
  bool is_apart(int rank, Buffer buffer) const;
  Image& image(int rank, Buffer buffer);
  // The same, where it has these blocks.
  Image& image_with(int rank, Buffer buffer, std::int64_t first, std::int64_t count);
  void fill_output(int rank);
  void read_input(int rank, const Blocks& blocks, std::vector<Term>& terms) const;

  BlockSpan input_span(int rank) const;
  BlockSpan output_span(int rank) const;

  Proof proof_;
  std::vector<Image> outputs_;
  std::vector<std::vector<Image>> scratch_;
};

// What a rank contributes where contributions are joined, and what a block is elsewhere.
Term contribution(const Proof& proof, int rank, std::int64_t block);
// What a rank's output shall have there, where nothing is joined.
Term promised(const Proof& proof, int rank, std::int64_t block);

std::string where(int rank, Buffer buffer, std::int64_t block);

}  // namespace huddle::schedules
