// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The data of one call, where the program has them, and as bytes without gaps, which is how huddle
// moves them: equal signatures give equal bytes, however different the types are.
#pragma once

#include <cstddef>
#include <memory>

#include "mpi/back_end/repack.h"
#include "mpi/back_end/types.h"
#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

// What the program names, and what its type is.
struct Part {
  TypedBuffer place;
  const TypeFacts* facts = &no_type;

  std::size_t bytes() const {
    return place.count <= 0 ? 0 : static_cast<std::size_t>(place.count) * facts->bytes;
  }
};

// A view of a place that has no gaps: the place itself, or a copy of its data. Throws
// std::runtime_error where the MPI will not pack, which is this rank's trouble alone.
class Dense {
 public:
  // The part comes by value, and stays in registers where nothing has to be set aside.
  Dense(const UnderlyingMpi& real, Comm comm, Part part)
      : data_(static_cast<std::byte*>(part.place.address)), bytes_(part.bytes()) {
    if (!part.facts->dense) set_aside(real, comm, part);
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  // From the program's place into the view, and back. Nothing where they are the same.
  void fetch() {
    if (copy_) fetch_copy();
  }
  void store() {
    if (copy_) store_copy();
  }

 private:
  class Copy;
  struct Delete {
    void operator()(Copy* copy) const;
  };

  void set_aside(const UnderlyingMpi& real, Comm comm, Part part);
  void fetch_copy();
  void store_copy();

  std::byte* data_;
  std::size_t bytes_;
  std::unique_ptr<Copy, Delete> copy_;
};

}  // namespace huddle::mpi
