// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The MPI's result of a call that huddle has made before. The MPI makes it in the same place, after
// that has got back the data that the call reads there; then the place gets huddle's result again.
// Only data are read and written: what lies between them may belong to other threads, or to no
// memory at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mpi/back_end/calls/written.h"
#include "mpi/back_end/message.h"

namespace huddle::mpi {

class ReferenceResult {
 public:
  // Requires: the place holds what huddle's call will find there.
  ReferenceResult(const UnderlyingMpi& real, Comm comm, Written written);

  // Keeps huddle's result, and restores what the call read. Comes after huddle's call.
  void begin();
  // Keeps the MPI's result, and restores huddle's. Comes after the MPI's call.
  void end();

  // Return what the call has written, as MPI packs it, one part after the other. Require end().
  std::span<const std::byte> ours() const { return {ours_.data(), compared_bytes_}; }
  std::span<const std::byte> theirs() const { return {theirs_.data(), compared_bytes_}; }
  // Returns which element of the program's such a byte belongs to, for a message.
  std::string place_of(std::size_t byte) const;

 private:
  std::vector<std::byte> data() const;
  void restore(const std::vector<std::byte>& data) const;
  void note_ours();

  const UnderlyingMpi& real_;
  Comm comm_;
  Written written_;
  std::vector<Part> held_;  // all that is written or read here
  std::size_t compared_bytes_ = 0;
  std::vector<std::byte> before_;
  std::vector<std::byte> ours_;
  std::vector<std::byte> theirs_;
};

}  // namespace huddle::mpi
