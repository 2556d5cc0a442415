// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How the elements of one call are joined: by huddle's own kernels, or by the MPI where huddle has
// none, and where an operator is the program's own.
#pragma once

#include <cstddef>
#include <optional>

#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/memory/reduction.h"

namespace huddle::mpi {

// What huddle's own kernels join.
struct Kernel {
  memory::Type type;
  memory::Operator op;
};
// Nothing where the MPI does.
std::optional<Kernel> kernel_of(const Operators& known, const TypeFacts& facts, Op op);

// Stays where it is while its reduction is used.
class Reducer {
 public:
  Reducer(const UnderlyingMpi& real, const Types& types, const Operators& known, Comm comm,
          Datatype type, const TypeFacts& facts, Op op);
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // False where the MPI has to judge or do it itself; the same on all ranks, for they give the
  // same type and operator.
  bool can_join() const { return reduction_.combine != nullptr && reduction_.element_bytes > 0; }
  const memory::Reduction& reduction() const { return reduction_; }
  // Whether huddle does it by itself.
  bool is_by_kernel() const { return can_join() && reduction_.context == nullptr; }
  // Elements lie as in the program's memory, or packed.
  bool is_packed() const { return is_packed_; }

 private:
  class LaidOut;

  memory::Reduction find(const Types& types, const Operators& known, const TypeFacts& facts);
  memory::Reduction find_in_mpi(const TypeFacts& facts);
  static void by_mpi(void* to, const void* left, const void* right, std::size_t count,
                     void* context);
  static void by_mpi_packed(void* to, const void* left, const void* right, std::size_t count,
                            void* context);
  void join(const void* left, void* right_and_result, int count) const;

  const UnderlyingMpi& real_;
  Comm comm_;
  Datatype type_;
  Op op_;
  TypeFacts facts_;  // for the MPI: an operator of the program may free the type meanwhile
  bool is_packed_ = false;
  memory::Reduction reduction_;
};

}  // namespace huddle::mpi
