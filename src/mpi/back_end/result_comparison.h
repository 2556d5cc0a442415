// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares the results of one call with the MPI's: bit by bit, or number by number within what
// rounding allows.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpi/back_end/process.h"
#include "mpi/back_end/reducer.h"
#include "mpi/back_end/reference_result.h"
#include "mpi/verification.h"

namespace huddle::mpi {

struct Comparison {
  static Comparison different(std::string first) { return {std::move(first), std::nullopt}; }
  static Comparison impossible(Incomparable why) { return {std::nullopt, why}; }

  std::optional<std::string> difference = std::nullopt;     // the first one, for a message
  std::optional<Incomparable> incomparable = std::nullopt;  // then there is no difference
};

// Compares all bytes but those of a long double that are not part of its value. Requires: both have
// made the call.
Comparison compare_bytes(const Process& process, Comm comm, const Written& written,
                         const ReferenceResult& reference);

// For a reduction.
class ResultComparison {
 public:
  // Requires: all ranks give the same type and operator.
  ResultComparison(const Process& process, Comm comm, const Part& brought, Op op);

  // Returns whether the MPI has to compute the scale of each result's rounding.
  bool wants_scale() const;
  // For that, as MPI_DOUBLE: the magnitudes of a rank's input, the operator that reduces them, and
  // the result.
  std::vector<double> magnitudes_of(const void* numbers, Count count) const;
  Op operator_of_scale() const;
  void set_scale(std::vector<double> scale) { scale_ = std::move(scale); }

  Comparison result(const Written& written, const ReferenceResult& reference, int ranks) const;

 private:
  Comparison of_pairs(const Part& part, const ReferenceResult& reference) const;
  Comparison of_numbers(const Part& part, const ReferenceResult& reference, int ranks) const;

  const Process& process_;
  Comm comm_;
  std::optional<Kernel> kernel_;
  std::vector<double> scale_;
};

}  // namespace huddle::mpi
