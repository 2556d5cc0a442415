// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Elements of a datatype into bytes in a row, and back, by the MPI, which alone knows where their
// data are.
#pragma once

#include <cstddef>
#include <limits>

#include "mpi/back_end/underlying_mpi.h"

namespace huddle::mpi {

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

}  // namespace huddle::mpi
