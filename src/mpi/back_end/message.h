// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The data of one call, where the program has them, and as bytes without gaps, which is how huddle
// moves them: equal signatures give equal bytes, however different the types are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

// Elements of a datatype into bytes in a row, and back, by the MPI, which alone knows where their
// data are.

// Elements as the program has them.
struct TypedBuffer {
  void* address = nullptr;
  Count count = 0;
  Datatype type{};
};

// As many as MPI_Pack counts, in an int.
inline constexpr std::size_t most_packed_bytes = std::numeric_limits<int>::max();

// Whether the MPI did so, with as many bytes as that; one element may have more than MPI_Pack
// counts. Nobody else has to take part. pre: there is one element, or no more than
// most_packed_bytes.
bool pack(const UnderlyingMpi& real, Comm comm, const TypedBuffer& from, std::byte* row,
          std::size_t bytes);
bool unpack(const UnderlyingMpi& real, Comm comm, const std::byte* row, std::size_t bytes,
            const TypedBuffer& to);

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

// Where the data of a call lie, seen from the address that the program names in it.
inline std::intptr_t number_of(const void* address) {
  return reinterpret_cast<std::intptr_t>(address);
}

// In bytes from that address. Nothing between them: there are no data.
struct Bounds {
  Aint begin = 0;
  Aint end = 0;
};
// pre: it has data.
Bounds bounds_of(const void* address, const Part& part);
Bounds bounds_of(const void* address, const std::vector<Part>& parts);

}  // namespace huddle::mpi
