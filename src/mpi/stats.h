// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What became of a process's collectives: how many huddle took, how, and how long they took; what
// passed through, and why.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/fallback_reason.h"
#include "mpi/stub/door.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// Why collectives were left to the MPI, for the lines at a program's end.
struct Reason {
  std::size_t calls;
  std::string_view words;
};

// Returns why a call never reaches the back end, from its name: huddle handles no call of this
// kind.
std::string_view kind_never_taken(std::string_view name);

// Returns all reasons that occurred, the most frequent one first. Includes the calls that the stub
// forwards to the MPI and counts itself.
std::vector<Reason> reasons_of(const std::array<std::size_t, route_count>& passed,
                               const huddle_door& door);
void sort_by_calls(std::vector<Reason>& reasons);

std::size_t calls_of(const std::vector<Reason>& reasons);
// Returns " (12 one rank, 3 nonblocking)", or nothing if there are no reasons.
std::string listed(const std::vector<Reason>& reasons);
// Returns a number with a comma after each group of three digits.
std::string grouped(std::size_t number);

// For several threads. What there is no memory to write down is left out: a call that went well is
// no failure for that.
class Stats {
 public:
  struct Taken {
    std::string_view algorithm;
    std::string_view unserved = {};  // what was to make it by force, and could not
  };
  void taken(select::Operation operation, const Taken& how, std::size_t bytes, double seconds);
  // more: what of the call is behind the reason; may be empty.
  void passed(select::Operation operation, Route why, std::string_view more, std::size_t bytes,
              double seconds);
  // A reason in a sentence, for the report to end with; said once.
  void remark(std::string_view sentence);

  // A table for people. Calls that never came to the back end are counted by the stub.
  std::string report(const huddle_door& door) const;
  // What was remarked, a line each.
  std::string remarks() const;

 private:
  struct Sum {
    std::size_t calls = 0;
    std::size_t bytes = 0;
    double seconds = 0;
  };
  struct Row {
    select::Operation operation;
    Route why;
    std::string words;  // the algorithm, or more about why
    auto operator<=>(const Row&) const = default;
  };
  void add(select::Operation operation, Route why, const Taken& words, std::size_t bytes,
           double seconds);
  std::string remarks_text() const;  // pre: the mutex is held

  mutable std::mutex mutex_;  // guards what follows
  std::map<Row, Sum> rows_;
  std::map<std::string, std::size_t> remarks_;
};

// How a process's collectives were shared between huddle and its MPI.
struct Shares {
  std::size_t taken = 0;
  std::array<std::size_t, route_count> passed{};  // by why
  double seconds = 0;                             // all of them took, where they are timed

  void count(Route why) { ++passed[static_cast<std::size_t>(why)]; }
  Shares& operator+=(const Shares& other);
};

struct Run {
  bool off = false;
  std::optional<double> seconds = {};  // from MPI_Init to MPI_Finalize; nothing: not timed
};

// A sentence on how much of the run collectives took; empty where that was not timed.
std::string times(const Shares& shares, const Run& run);

// One line for people, and that one. Calls that never came to the back end count as passed.
std::string summary(const Shares& shares, const huddle_door& door, const Run& run);

}  // namespace huddle::mpi
