// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How the elements of one call are joined: by huddle's own kernels, or by the MPI, which knows what
// an operator of the program's own does.
#pragma once

#include <cstddef>
#include <optional>

#include "memory/reduction.h"
#include "mpi/back_end/real.h"
#include "mpi/back_end/types.h"

namespace huddle::mpi {

// Stays where it is while its reduction is used.
class Reducer {
 public:
  // Nothing where the MPI has to judge or do it itself; the same on all ranks, for they give the
  // same type and operator.
  static std::optional<Reducer> find(const Real& real, const Operators& known, Comm comm,
                                     Datatype type, const TypeFacts& facts, Op op);

  memory::Reduction reduction();
  // Elements lie as in the program's memory, or packed.
  bool is_packed() const { return is_packed_; }
  // What huddle's own kernel joins; nothing where the program's operator does.
  struct Kernel {
    memory::Type type;
    memory::Operator op;
  };
  const std::optional<Kernel>& kernel() const { return kernel_; }

 private:
  Reducer(const Real& real, Comm comm, Datatype type, const TypeFacts& facts, Op op)
      : real_(real), comm_(comm), type_(type), facts_(facts), op_(op) {}

  static void by_mpi(void* to, const void* left, const void* right, std::size_t count,
                     void* context);
  static void by_mpi_packed(void* to, const void* left, const void* right, std::size_t count,
                            void* context);
  void join(const void* left, void* right_and_result, int count) const;

  const Real& real_;
  Comm comm_;
  Datatype type_;
  TypeFacts facts_;
  Op op_;
  std::optional<Kernel> kernel_;
  bool commutative_ = true;
  bool is_packed_ = false;
};

}  // namespace huddle::mpi
