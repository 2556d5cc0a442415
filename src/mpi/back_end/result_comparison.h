// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How the results of one call are held against the MPI's: bit by bit, or number by number with what
// rounding allows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi/back_end/process.h"
#include "mpi/back_end/reducer.h"
#include "mpi/back_end/reference_result.h"

namespace huddle::mpi {

// What differs first, in words; nothing where nothing does. pre: both have made the call.
std::optional<std::string> different_bytes(const Types& types, const Written& written,
                                           ReferenceResult& twin);

// For a reduction.
class ResultComparison {
 public:
  // pre: all ranks give the same type and operator.
  ResultComparison(const Process& process, Comm comm, const Part& brought, Op op);

  // Whether the MPI has to say how large the numbers are that went into each result.
  bool wants_scale() const;
  // For that, in numbers of MPI_DOUBLE: the magnitudes of what a rank brings, what to join them by,
  // and what comes of it.
  std::vector<double> magnitudes_of(const void* numbers, Count count) const;
  Op operator_of_scale() const;
  void set_scale(std::vector<double> scale) { scale_ = std::move(scale); }

  std::optional<std::string> difference(const Written& written, ReferenceResult& twin,
                                        int ranks) const;

 private:
  std::optional<std::string> different_pairs(const Part& ours, ReferenceResult& twin) const;
  std::optional<std::string> different_numbers(const Part& ours, ReferenceResult& twin,
                                               int ranks) const;

  const Process& process_;
  Comm comm_;
  std::optional<Kernel> kernel_;
  std::vector<double> scale_;
};

}  // namespace huddle::mpi
