// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// HUDDLE_VERIFY=1: the MPI repeats the collectives that huddle handles; results are compared.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/back_end/call.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/reducer.h"
#include "mpi/verification.h"

namespace huddle::mpi {

// Obtains the MPI's result of a call that huddle has completed: restores the output buffer as it
// was before the call, runs the call through the MPI, and restores huddle's result. Accesses only
// data, because gaps between them may be used by other threads or may not be mapped.
class ReferenceResult {
 public:
  // Requires: the buffer holds the input of huddle's call.
  ReferenceResult(const UnderlyingMpi& real, Comm comm, Written written);

  // Saves huddle's result and restores the input. Call it after huddle's call.
  void begin();
  // Saves the MPI's result and restores huddle's. Call it after the MPI's call.
  void end();

  // Return the results, packed, one part after the other.
  // Requires: end() was called.
  std::span<const std::byte> ours() const { return {ours_.data(), compared_bytes_}; }
  std::span<const std::byte> theirs() const { return {theirs_.data(), compared_bytes_}; }
  // Returns which of the program's elements contains this byte, for a message.
  std::string place_of(std::size_t byte) const;

 private:
  std::vector<std::byte> data() const;
  void restore(const std::vector<std::byte>& data) const;
  void save_huddle_result();

  const UnderlyingMpi& real_;
  Comm comm_;
  Written written_;
  std::vector<Part> held_;  // all parts that are written or read
  std::size_t compared_bytes_ = 0;
  std::vector<std::byte> before_;
  std::vector<std::byte> ours_;
  std::vector<std::byte> theirs_;
};

// The result of a comparison: bit by bit, or number by number within the rounding bound.
struct Comparison {
  static Comparison different(std::string first) { return {std::move(first), std::nullopt}; }
  static Comparison impossible(Incomparable why) { return {std::nullopt, why}; }

  std::optional<std::string> difference = std::nullopt;     // the first one, for a message
  std::optional<Incomparable> incomparable = std::nullopt;  // excludes a difference
};

// Compares all bytes except for the padding of long doubles.
// Requires: huddle and the MPI have run the call.
Comparison compare_bytes(const Process& process, Comm comm, const Written& written,
                         const ReferenceResult& reference);

// Compares the results of a reduction.
class ResultComparison {
 public:
  // Requires: all ranks pass the same type and operator.
  ResultComparison(const Process& process, Comm comm, const Part& brought, Op op);

  // Returns whether the MPI has to compute the scale of each result's rounding.
  bool wants_scale() const;
  // To compute the scale, the caller reduces the input's magnitudes, as MPI_DOUBLE, by
  // operator_of_scale() and passes the result to set_scale().
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

// Runs the call through huddle and the MPI, prints the first difference of the process, and counts
// all differences. The program gets huddle's result. Defined for all calls of carry_out().
// Requires: as for the call's run().
template <CollectiveCall Call>
FallbackReason verified(Process& process, Communicator& communicator, const Call& call);

}  // namespace huddle::mpi
