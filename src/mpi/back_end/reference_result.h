// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the MPI makes a call a second time, after huddle, and whether it comes to the same there: a
// second copy of what the program has there, gaps and all; or, where that cannot be had, the place
// itself.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/back_end/calls/written.h"
#include "mpi/back_end/message.h"

namespace huddle::mpi {

class ReferenceResult {
 public:
  // pre: it holds what huddle's call will find there.
  ReferenceResult(const UnderlyingMpi& real, Comm comm, Written written);

  // What to give the MPI in place of the program's address, once huddle is done.
  void* prepare();
  // Where the MPI's numbers are. pre: as of prepare(), which has been called.
  void* address();
  // The first byte that differs between the two, gaps included where there is a copy; nothing where
  // none does. pre: both have made the call.
  std::optional<std::size_t> first_difference(bool may_hold_padding);
  // Of what is compared.
  std::size_t bytes() const { return compared_bytes_; }
  // Which element of the program's the byte belongs to, for people.
  std::string place_of(std::size_t byte) const;

 private:
  bool is_spread(Aint region_bytes) const;
  std::vector<std::byte> data() const;
  void restore(const std::vector<std::byte>& data) const;
  // What huddle made is there.
  void note_ours();
  static std::optional<std::size_t> mismatch(std::span<const std::byte> theirs,
                                             const std::byte* ours, bool may_hold_padding);

  const UnderlyingMpi& real_;
  Comm comm_;
  Written written_;
  std::vector<Part> held_;  // what the MPI has to find: all that is written, and what is read
  std::size_t compared_bytes_ = 0;
  Aint compared_from_ = 0;  // from the program's address
  Aint lowest_ = 0;         // where the copy begins, from the program's address
  std::vector<std::byte> copy_;
  // Of a place that is used twice: its data before the call, and after huddle's.
  std::optional<std::vector<std::byte>> saved_;
  std::vector<std::byte> ours_;
};

}  // namespace huddle::mpi
