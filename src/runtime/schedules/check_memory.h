// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The buffers of all ranks while a schedule is checked: one term for each block.
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

// The content of a place while a schedule is checked: nothing, a block as contributed, or a
// combination of contributions. Each distinct content is identified by a number.
using Term = std::uint32_t;
inline constexpr Term no_term = 0;
// The content of a place while a message arrives there.
inline constexpr Term term_in_flight = ~Term{0};

// Terms of reductions that keep the order: fully parenthesized expressions. A rank's own
// contribution has the number rank + 1.
class Brackets {
 public:
  explicit Brackets(int ranks);

  static Term leaf(int rank) { return static_cast<Term>(rank) + 1; }
  Term combine(Term left, Term right);
  // Returns the expected result of a full reduction.
  Term of_all();
  // Returns the expected result of each rank in a scan, inclusive or not.
  std::vector<Term> prefixes(bool inclusive);
  std::string text(Term term) const;  // "((0 1) 2)"

 private:
  struct Combined {
    Term right;
    Term term;
  };
  int ranks_;
  std::vector<std::pair<Term, Term>> parts_;          // by term
  std::vector<std::vector<Combined>> combined_with_;  // by left operand; usually there is one
};

// Terms of reductions in any order: sets of ranks that have contributed. A cyclic interval of ranks
// is encoded in the number itself.
class Contributors {
 public:
  explicit Contributors(int ranks) : ranks_(ranks) {}

  static Term leaf(int ranks, int rank) {
    return static_cast<Term>(rank) * static_cast<Term>(ranks + 1) + 1;
  }
  // Returns nothing if a rank would have contributed twice.
  std::optional<Term> combine(Term left, Term right);
  Term of_all() const { return in_a_row(0, ranks_); }
  std::string text(Term term) const;  // "3..5 8"

 private:
  using Intervals = std::vector<std::pair<int, int>>;  // first, last; ascending, not adjacent

  Term in_a_row(int first, int count) const;
  Intervals intervals(Term term) const;
  Term number_of(const Intervals& intervals);

  int ranks_;
  std::map<Intervals, Term> numbers_;
  std::vector<Intervals> others_;
};

// Thrown if a schedule violates a property; reported by flaw_in().
struct Flaw : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A buffer with one term per place. All operations work on intervals of blocks.
class Image {
 public:
  // Holds the blocks from `first` on.
  static Image of_interval(std::int64_t first, std::int64_t count) { return {first, count, false}; }
  // Holds any block at the place given by its number modulo the size. Each place records which
  // block it contains.
  static Image of_scratch(std::int64_t count) { return {0, count, true}; }

  // Returns the first of these blocks that does not fit, or nothing if all of them fit.
  std::optional<std::int64_t> missing(std::int64_t first, std::int64_t count) const;
  // Returns the term of a block.
  // Requires (also for the functions below): the block is not missing.
  Term get(std::int64_t block) const;

  // Calls action(block, term) with the term at the place of each block, even if it belongs to
  // another block.
  template <typename Action>
  void for_each(std::int64_t first, std::int64_t count, const Action& action) const {
    for_each_piece(first, count, [&](std::int64_t block, std::size_t at, std::int64_t many) {
      const Term* const terms = terms_.data() + at;
      for (std::int64_t i = 0; i < many; ++i) action(block + i, terms[i]);
    });
  }
  // Appends the terms of the blocks.
  void read(std::int64_t first, std::int64_t count, std::vector<Term>& terms) const;
  // Stores the terms at `terms`.
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
  // Splits an interval at the end of scratch, which is cyclic. Calls action(first block, its place,
  // number of consecutive places).
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
  std::vector<std::int64_t> owners_;  // for scratch
};

class CheckMemory {
 public:
  explicit CheckMemory(const Proof& proof);

  // Appends the terms of the blocks. Throws Flaw.
  void read(int rank, const Part& part, std::vector<Term>& terms);
  // Marks the places as receiving a message. Throws Flaw.
  void take(int rank, const Part& part);
  // Stores the terms at `terms`.
  void write(int rank, const Part& part, const Term* terms);
  // Returns the term of one block of the output, or no_term if the rank does not have the block.
  Term output(int rank, std::int64_t block) const;

 private:
  // Returns whether `buffer` is an input that is separate from the output. In place it is not.
  bool is_apart(int rank, Buffer buffer) const;
  Image& image(int rank, Buffer buffer);
  // Like image(), but throws Flaw if it lacks one of these blocks.
  Image& image_with(int rank, Buffer buffer, std::int64_t first, std::int64_t count);
  void fill_output(int rank);
  void read_input(int rank, const Blocks& blocks, std::vector<Term>& terms) const;

  BlockSpan input_span(int rank) const;
  BlockSpan output_span(int rank) const;

  Proof proof_;
  std::vector<Image> outputs_;
  std::vector<std::vector<Image>> scratch_;
};

// Returns a rank's contribution to a reduction, or the identity of a block in other operations.
Term contribution(const Proof& proof, int rank, std::int64_t block);
// Returns the expected content of a rank's output in operations that do not reduce.
Term promised(const Proof& proof, int rank, std::int64_t block);

std::string where(int rank, Buffer buffer, std::int64_t block);

}  // namespace huddle::schedules
