// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The data of one call, where the program has them, and as bytes without gaps, which is how huddle
// moves them: equal signatures give equal bytes, however different the types are.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/back_end/real.h"
#include "mpi/back_end/repack.h"
#include "mpi/back_end/types.h"

namespace huddle::mpi {

// What the program names, and what its type is.
struct Part {
  Place place;
  TypeFacts facts;

  std::size_t bytes() const {
    return place.count <= 0 ? 0 : static_cast<std::size_t>(place.count) * facts.bytes;
  }
};

// A view of a place that has no gaps: the place itself, or a copy of its data. Throws
// std::runtime_error where the MPI will not pack, which is this rank's trouble alone.
class Dense {
 public:
  Dense(const Real& real, Comm comm, const Place& place, const TypeFacts& facts);
  Dense(const Real& real, Comm comm, const Part& part)
      : Dense(real, comm, part.place, part.facts) {}

  std::byte* data() {
    return facts_.dense ? static_cast<std::byte*>(place_.address) : copy_.data();
  }
  std::size_t bytes() const { return static_cast<std::size_t>(place_.count) * facts_.bytes; }
  void* address() const { return place_.address; }

  // From the program's place into the view, and back. Nothing where they are the same.
  void fetch();
  void store();

 private:
  template <class Move>
  void in_parts(Move move);

  const Real& real_;
  Comm comm_;
  Place place_;
  TypeFacts facts_;
  std::vector<std::byte> copy_;
};

}  // namespace huddle::mpi
