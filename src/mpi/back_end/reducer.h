// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Selects how the elements of a call are reduced: by huddle's kernels, or by the MPI for other
// types and for user-defined operators.
#pragma once

#include <cstddef>
#include <optional>

#include "mpi/back_end/datatypes.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/memory/reduction.h"

namespace huddle::mpi {

// A reduction that huddle's kernels support.
struct Kernel {
  memory::Type type;
  memory::Operator op;
};
// Returns the kernel of a combination, or nullopt if the MPI has to reduce.
std::optional<Kernel> kernel_of(const Operators& known, const TypeFacts& facts, Op op);

// Must outlive the use of its reduction, which refers to it.
class Reducer {
 public:
  Reducer(const UnderlyingMpi& real, const Types& types, const Operators& known, Comm comm,
          Datatype type, const TypeFacts& facts, Op op);
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  // Returns false if the MPI has to run or reject the call. All ranks get the same answer because
  // they pass the same type and operator.
  bool can_reduce() const { return reduction_.combine != nullptr && reduction_.element_bytes > 0; }
  const memory::Reduction& reduction() const { return reduction_; }
  // Returns whether huddle's kernels reduce.
  bool is_by_kernel() const { return can_reduce() && reduction_.context == nullptr; }
  // Returns whether the reduction expects packed elements instead of the program's layout.
  bool is_packed() const { return is_packed_; }

 private:
  class LaidOut;

  memory::Reduction find(const Types& types, const Operators& known, const TypeFacts& facts);
  memory::Reduction find_in_mpi(const TypeFacts& facts);
  static void by_mpi(void* to, const void* left, const void* right, std::size_t count,
                     void* context);
  static void by_mpi_packed(void* to, const void* left, const void* right, std::size_t count,
                            void* context);
  void combine(const void* left, void* right_and_result, int count) const;

  const UnderlyingMpi& real_;
  Comm comm_;
  Datatype type_;
  Op op_;
  TypeFacts facts_;  // a copy, because the program's operator may free the type
  bool is_packed_ = false;
  memory::Reduction reduction_;
};

}  // namespace huddle::mpi
