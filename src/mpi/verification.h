// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares results of huddle and of the MPI, and counts the outcomes of `--verify` in one process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/fallback_reason.h"
#include "mpi/stub/stub_interface.h"
#include "runtime/memory/types.h"

namespace huddle::mpi {

// Returns the magnitude of every number of an array: |x|, or |z| of complex numbers. Reducing in
// another order may change the rounding, within a bound that depends on the magnitudes.
std::vector<double> magnitudes(memory::Type type, const void* numbers, std::size_t count);

struct Difference {
  std::size_t at = 0;
  std::string text;  // as in "3.5 and 3.25, which may differ by 1e-15"
};

// Returns the first number that differs by more than ranks x epsilon x its scale, which is the sum
// (or product) of the magnitudes that were reduced to it. Numbers that are infinite or NaN in both
// results count as equal.
// Requires: a real or complex type.
std::optional<Difference> compare_rounded(memory::Type type, const void* ours, const void* theirs,
                                          std::size_t count, int ranks,
                                          const std::vector<double>& scale);

// Returns the first number whose value differs. Zeros of either sign are equal, and a NaN equals
// every number.
// Requires: a real type.
std::optional<Difference> compare_values(memory::Type type, const void* ours, const void* theirs,
                                         std::size_t count);

// The reason why the results of a call that huddle handled could not be compared.
enum class Incomparable {
  unknown_rounding,  // the bits differ, and huddle does not know the rounding bound
  far_padding,       // the difference may be in the padding of a long double
  mpi_failed,        // the MPI reported an error for the same call
  huddle_failed,
};

inline constexpr std::size_t incomparable_count =
    static_cast<std::size_t>(Incomparable::huddle_failed) + 1;

constexpr std::string_view reason_text(Incomparable why) {
  switch (why) {
    case Incomparable::unknown_rounding:
      return "different bits from an operator with unknown rounding";
    case Incomparable::far_padding:
      return "different bits in a datatype with padding";
    case Incomparable::mpi_failed:
      return "error reported by the MPI";
    case Incomparable::huddle_failed:
      return "error in huddle";
  }
  return "";
}

// Thread-safe.
class Verification {
 public:
  void note_equal() { count(compared_); }
  // Returns whether this is the first difference of the process.
  bool note_difference();
  void note_skipped(FallbackReason why) { count(fallbacks_[static_cast<std::size_t>(why)]); }
  void note_skipped(Incomparable why) { count(incomparable_[static_cast<std::size_t>(why)]); }

  bool has_differences() const { return differences_.load(std::memory_order_relaxed) > 0; }
  // Returns text such as "6,300 calls compared, 0 differ, 12 not comparable (10 one rank, 2
  // nonblocking)". Includes the calls that the stub forwards to the MPI.
  std::string report(const huddle_stub_interface& stub) const;

 private:
  using Counter = std::atomic<std::size_t>;
  static void count(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

  Counter compared_{0};  // including those that differ
  Counter differences_{0};
  std::array<Counter, fallback_reason_count> fallbacks_{};
  std::array<Counter, incomparable_count> incomparable_{};
};

}  // namespace huddle::mpi
