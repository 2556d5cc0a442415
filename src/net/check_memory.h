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

// An interval of blocks, with what is in each.
struct Image {
  std::int64_t first = 0;
  std::vector<Term> terms = {};

  Image() = default;
  Image(std::int64_t begin, std::int64_t count)
      : first(begin), terms(static_cast<std::size_t>(count), no_term) {}
  bool holds(std::int64_t begin, std::int64_t count) const {
    return begin >= first && begin + count <= first + static_cast<std::int64_t>(terms.size());
  }
  Term* at(std::int64_t block) { return terms.data() + (block - first); }
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
  Term output(int rank, std::int64_t block);

 private:
  // In place the input is where the output is.
  bool is_apart(int rank, Buffer buffer) const;
  Image& image(int rank, Buffer buffer);
  Term* interval(int rank, Buffer buffer, std::int64_t first, std::int64_t count);
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
