// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// HUDDLE_VERIFY=1: every collective that huddle handles is made by the MPI as well, and the results
// are compared.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/reducer.h"
#include "mpi/verification.h"

namespace huddle::mpi {

// The MPI's result of a call that huddle has made before. The MPI makes it in the same place, after
// that has got back the data that the call reads there; then the place gets huddle's result again.
// Only data are read and written: what lies between them may belong to other threads, or to no
// memory at all.
class ReferenceResult {
 public:
  // Requires: the place holds what huddle's call will find there.
  ReferenceResult(const UnderlyingMpi& real, Comm comm, Written written);

  // Keeps huddle's result, and restores what the call read. Comes after huddle's call.
  void begin();
  // Keeps the MPI's result, and restores huddle's. Comes after the MPI's call.
  void end();

  // Return what the call has written, as MPI packs it, one part after the other. Require end().
  std::span<const std::byte> ours() const { return {ours_.data(), compared_bytes_}; }
  std::span<const std::byte> theirs() const { return {theirs_.data(), compared_bytes_}; }
  // Returns which element of the program's such a byte belongs to, for a message.
  std::string place_of(std::size_t byte) const;

 private:
  std::vector<std::byte> data() const;
  void restore(const std::vector<std::byte>& data) const;
  void note_ours();

  const UnderlyingMpi& real_;
  Comm comm_;
  Written written_;
  std::vector<Part> held_;  // all that is written or read here
  std::size_t compared_bytes_ = 0;
  std::vector<std::byte> before_;
  std::vector<std::byte> ours_;
  std::vector<std::byte> theirs_;
};

// Compares the results of one call with the MPI's: bit by bit, or number by number within what
// rounding allows.
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

// Makes the call by huddle and by the MPI, prints the first difference of the process and counts
// all of them. The program gets huddle's result. Requires what the call's take() requires. Defined
// for all calls that carry_out() knows.
template <class Call>
Route verified(Process& process, Communicator& communicator, const Call& call);

}  // namespace huddle::mpi
