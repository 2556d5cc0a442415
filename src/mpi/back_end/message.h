// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The data of a call, in the program's buffers and packed. huddle moves packed data, which are the
// same for equal type signatures even if the datatypes differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

// Elements in a buffer of the program.
struct TypedBuffer {
  void* address = nullptr;
  Count count = 0;
  Datatype type{};
};

// The largest int, in which MPI_Pack counts bytes.
inline constexpr std::size_t most_packed_bytes = std::numeric_limits<int>::max();

// Pack and unpack data through the MPI, which alone knows their layout. Return false if the MPI
// fails or the size differs from `bytes`. Do not communicate. A single element may be larger than
// MPI_Pack supports.
// Requires: the data are one element, or at most most_packed_bytes.
bool pack(const UnderlyingMpi& real, Comm comm, const TypedBuffer& from, std::byte* row,
          std::size_t bytes);
bool unpack(const UnderlyingMpi& real, Comm comm, const std::byte* row, std::size_t bytes,
            const TypedBuffer& to);

// A buffer with the properties of its type.
struct Part {
  TypedBuffer place;
  const TypeFacts* facts = &no_type;

  std::size_t bytes() const {
    return place.count <= 0 ? 0 : static_cast<std::size_t>(place.count) * facts->bytes;
  }
};

// A packed view of a buffer: the buffer itself if it is dense, else a copy. Throws
// std::runtime_error, on this rank only, if the MPI cannot pack the data.
class Dense {
 public:
  // Takes the part by value, so that it stays in registers if no copy is needed.
  Dense(const UnderlyingMpi& real, Comm comm, Part part)
      : data_(static_cast<std::byte*>(part.place.address)), bytes_(part.bytes()) {
    if (!part.facts->dense) set_aside(real, comm, part);
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  // Copy from the program's buffer to the view, and back. Do nothing if they are the same.
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

// Helpers to locate a call's data relative to its buffer argument.
inline std::intptr_t number_of(const void* address) {
  return reinterpret_cast<std::intptr_t>(address);
}

// The range of the data, in bytes from the buffer argument; empty if there are no data.
struct Bounds {
  Aint begin = 0;
  Aint end = 0;
};
// Requires: the part contains data.
Bounds bounds_of(const void* address, const Part& part);
Bounds bounds_of(const void* address, const std::vector<Part>& parts);

}  // namespace huddle::mpi
