// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The protocol between `huddle bench` and the ranks that it measures: lines of text, which every
// launcher carries to and from rank 0. This header uses no MPI and needs no library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "runtime/select/operation.h"
#include "tools/bench/harness/guideline.h"

namespace huddle::bench {

// The two sides of the comparison: the MPI's own functions and huddle in front of them.
enum class Side { native, huddle };
inline constexpr std::array<std::string_view, 2> side_names = {"native", "huddle"};
constexpr std::string_view name(Side side) { return side_names[static_cast<std::size_t>(side)]; }

// Defines what happens between the timed calls.
enum class Timing {
  apart,  // barrier and new data before each call, rotating root
  osu,    // nothing: consecutive calls, one root, same data, like OSU's programs
  cold,   // first calls of a process, on a new communicator with new buffers
};
inline constexpr std::array<Timing, 3> timings = {Timing::apart, Timing::osu, Timing::cold};
inline constexpr std::array<std::string_view, 3> timing_names = {"apart", "osu", "cold"};
// Number of timings that are loops, which the user can choose: all but `cold`.
inline constexpr std::size_t loops = 2;
constexpr std::string_view name(Timing timing) {
  return timing_names[static_cast<std::size_t>(timing)];
}

using select::Operation;
using select::operations;
using select::request_of;

// Prefix of the protocol's lines, because launchers and MPIs print other lines as well.
inline constexpr std::string_view mark = "huddle-bench: ";

// One measurement. A stretch consists of `calls` calls in a row, which are timed as a whole. Each
// call has its own data, except with Timing::osu. A batch is a warm-up and up to `stretches`
// stretches of one side. With Timing::cold there is one stretch and no warm-up.
struct Order {
  Operation operation = Operation::barrier;
  std::size_t bytes = 0;      // per call; a multiple of 8
  int calls = 1;              // per stretch
  int stretches = 1;          // per batch, at most
  int rounds = 1;             // each with one batch per side
  std::int64_t limit_ns = 0;  // a batch starts no stretch after this time
  bool native = true;         // measure this side
  bool huddle = true;
  bool huddle_first = false;  // in the first round; the order alternates
  bool explain = false;       // also report huddle's algorithm and its alternatives
  Timing timing = Timing::apart;
  Mockup mockup = Mockup::none;  // runs instead of the operation, which it replaces
};

inline std::string text(const Order& order) {
  std::ostringstream out;
  out << static_cast<int>(order.operation) << ' ' << order.bytes << ' ' << order.calls << ' '
      << order.stretches << ' ' << order.rounds << ' ' << order.limit_ns << ' ' << order.native
      << ' ' << order.huddle << ' ' << order.huddle_first << ' ' << order.explain << ' '
      << static_cast<int>(order.timing) << ' ' << static_cast<int>(order.mockup);
  return out.str();
}

// Parses a line into `order`. Returns false if the line is not an order.
inline bool read(const std::string& line, Order& order) {
  std::istringstream in(line);
  std::size_t operation = 0;
  std::size_t timing = 0;
  std::size_t mockup = 0;
  in >> operation >> order.bytes >> order.calls >> order.stretches >> order.rounds >>
      order.limit_ns >> order.native >> order.huddle >> order.huddle_first >> order.explain >>
      timing >> mockup;
  if (!in || operation >= operations.size() || timing >= timings.size()) return false;
  if (mockup >= mockup_traits.size()) return false;
  order.operation = operations[operation];
  order.timing = timings[timing];
  order.mockup = mockup_traits[mockup].mockup;
  return true;
}

// Takes the place of huddle's back end in the ranks' command line if the MPI runs alone.
inline constexpr std::string_view no_back_end = "-";

// The first words of answers, after the mark, and what follows each.
inline constexpr std::string_view word_ready = "ready";    // ranks, oversubscribed, MPI version
inline constexpr std::string_view word_batch = "batch";    // side, nanoseconds of each stretch
inline constexpr std::string_view word_passed = "passed";  // calls that fell back to the MPI
inline constexpr std::string_view word_choice = "choice";  // nanoseconds, algorithm, parameters
inline constexpr std::string_view word_wrong = "wrong";    // side whose data were wrong
inline constexpr std::string_view word_done = "done";      // the order has been carried out
inline constexpr std::string_view word_failed =
    "failed";  // a message; the ranks carry out no more orders

}  // namespace huddle::bench
