// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Statistics of a process's collectives: the calls that huddle handled, by algorithm, and the calls
// that fell back to the MPI, by reason.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi/fallback_reason.h"
#include "mpi/stub/stub_interface.h"
#include "runtime/select/operation.h"
#include "runtime/team/tuner.h"

namespace huddle::mpi {

// The names of the implementations in files, by team::Implementation.
inline constexpr std::array<std::string_view, team::implementation_count> implementation_names = {
    "predicted", "alternative", "mpi"};

// A fallback reason and its number of calls, for the output at the end of a program.
struct Reason {
  std::size_t calls;
  std::string_view words;
};

// Returns why huddle never handles calls of this name.
std::string_view kind_never_handled(std::string_view name);

// Returns all reasons that occurred, the most frequent one first. Includes the calls that the stub
// forwards to the MPI and counts itself.
std::vector<Reason> reasons_of(const std::array<std::size_t, fallback_reason_count>& fallbacks,
                               const huddle_stub_interface& stub);
void sort_by_calls(std::vector<Reason>& reasons);

std::size_t calls_of(const std::vector<Reason>& reasons);
// Returns text such as " (12 one rank, 3 nonblocking)", or an empty string if there are no reasons.
std::string listed(const std::vector<Reason>& reasons);
// Returns a number with a comma after each group of three digits.
std::string grouped(std::size_t number);

// Per-operation statistics. Thread-safe. Drops an entry if there is no memory for it, because a
// call that succeeded must not fail for that.
class Stats {
 public:
  struct Taken {
    std::string_view algorithm;
    std::string_view unserved = {};  // the forced algorithm that could not run the call
  };
  void handled(select::Operation operation, const Taken& how, std::size_t bytes, double seconds);
  // `more` contains details of the reason and may be empty.
  void fell_back(select::Operation operation, FallbackReason why, std::string_view more,
                 std::size_t bytes, double seconds);
  // Adds the result of a trial, or of its rounds so far.
  void tried(const team::Tuner::Result& result);
  // The trials of the calls of one class, on all communicators.
  struct Trials {
    std::size_t count = 0;
    team::Tuner::Result latest;
  };
  // Returns the trials of all classes, in order of operation and size.
  std::vector<Trials> trials() const;
  // Adds a sentence to the end of the report. Repeated sentences are printed once.
  void add_note(std::string_view sentence);

  // Returns a human-readable table, including the calls that the stub counts.
  std::string report(const huddle_stub_interface& stub) const;
  // Returns the remarks, one per line.
  std::string remarks() const;

 private:
  struct Sum {
    std::size_t calls = 0;
    std::size_t bytes = 0;
    double seconds = 0;
  };
  struct Row {
    select::Operation operation;
    FallbackReason why;
    std::string words;  // the algorithm, or details of the reason
    auto operator<=>(const Row&) const = default;
  };
  void add(select::Operation operation, FallbackReason why, const Taken& words, std::size_t bytes,
           double seconds);
  // Require: the mutex is held.
  std::string trials_text() const;
  std::string remarks_text() const;

  mutable std::mutex mutex_;  // guards the members below
  std::map<Row, Sum> rows_;
  std::map<std::pair<select::Operation, std::size_t>, Trials> trials_;  // by the largest size
  std::map<std::string, std::size_t> remarks_;
};

// The numbers of calls that huddle and the MPI handled.
struct Shares {
  std::size_t handled = 0;
  std::array<std::size_t, fallback_reason_count> fallbacks{};  // by reason
  double seconds = 0;  // sum of all calls, if they are timed

  void count(FallbackReason why) { ++fallbacks[static_cast<std::size_t>(why)]; }
  Shares& operator+=(const Shares& other);
};

struct Run {
  bool off = false;
  std::optional<double> seconds = {};  // from MPI_Init to MPI_Finalize; nullopt: not timed
};

// Returns a sentence with the share of the run spent in collectives, or an empty string if the run
// was not timed.
std::string times(const Shares& shares, const Run& run);

// Returns a one-line summary, and times() if the run was timed. The calls that the stub counts are
// fallbacks.
std::string summary(const Shares& shares, const huddle_stub_interface& stub, const Run& run);

}  // namespace huddle::mpi
