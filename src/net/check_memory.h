// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The buffers of all ranks while a schedule is checked: a term for each block.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "net/check.h"
#include "net/terms.h"

namespace huddle::net {

// Thrown where a schedule is caught, told by flaw_in().
struct Flaw : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A buffer: a term for each of its places.
class Image {
 public:
  // Of the blocks from `first` on.
  static Image of_interval(std::int64_t first, std::int64_t count) { return {first, count, false}; }
  // Any block has its place, whose last one it then is.
  static Image of_scratch(std::int64_t count) { return {0, count, true}; }

  bool has(std::int64_t block) const {
    return is_scratch_
               ? !terms_.empty()
               : block >= first_ && block - first_ < static_cast<std::int64_t>(terms_.size());
  }
  // pre: has(block)
  Term get(std::int64_t block) const {
    const std::size_t at = place(block);
    return is_scratch_ && owners_[at] != block ? no_term : terms_[at];
  }
  // What is there, whichever block it is of.
  Term get_any(std::int64_t block) const { return terms_[place(block)]; }
  void set(std::int64_t block, Term term) {
    const std::size_t at = place(block);
    terms_[at] = term;
    if (is_scratch_) owners_[at] = block;
  }

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

  std::int64_t first_;
  bool is_scratch_;
  std::vector<Term> terms_;
  std::vector<std::int64_t> owners_;
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
  // The same, where it has the block.
  Image& image_with(int rank, Buffer buffer, std::int64_t block);
  void fill_output(int rank);

  struct Span {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  Span input_span(int rank) const;
  Span output_span(int rank) const;

  Proof proof_;
  bool writes_once_;  // what has come to an output stays
  std::vector<Image> outputs_;
  std::vector<std::vector<Image>> scratch_;
};

// What a rank contributes where contributions are joined, and what a block is elsewhere.
Term contribution(const Proof& proof, int rank, std::int64_t block);

std::string where(int rank, Buffer buffer, std::int64_t block);

}  // namespace huddle::net
