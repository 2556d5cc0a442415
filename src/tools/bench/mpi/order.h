// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench` and the ranks that it measures with say to each other: lines of text, which
// every launcher carries to and from rank 0. No MPI in it, and nothing that has to be linked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "runtime/select/operation.h"

namespace huddle::bench {

// The two that are compared: the MPI's own functions, and huddle's in front of them.
enum class Side { native, huddle };
inline constexpr std::array<std::string_view, 2> side_names = {"native", "huddle"};
constexpr std::string_view name(Side side) { return side_names[static_cast<std::size_t>(side)]; }

// What lies between the calls that are timed.
enum class Timing {
  apart,  // each call by itself: a barrier before it, new data, roots in turn
  osu,    // nothing: call after call from one root, with the same data, as OSU's programs do it
  cold,   // a start: the first calls of a process, on a new communicator and on new arrays
};
inline constexpr std::array<Timing, 3> timings = {Timing::apart, Timing::osu, Timing::cold};
inline constexpr std::array<std::string_view, 3> timing_names = {"apart", "osu", "cold"};
// Those before the last are loops that one can choose between.
inline constexpr std::size_t loops = 2;
constexpr std::string_view name(Timing timing) {
  return timing_names[static_cast<std::size_t>(timing)];
}

using select::Operation;
using select::operations;
using select::request_of;

// Launchers and MPIs print what they like: only lines that begin so are ours.
inline constexpr std::string_view mark = "huddle-bench: ";

// One thing to measure. A stretch is what is timed: so many calls in a row, each with data of its
// own unless all have the same. A batch is a warm-up and so many stretches of one side; cold there
// is no warm-up, and one stretch.
struct Order {
  Operation operation = Operation::barrier;
  std::size_t bytes = 0;      // a call; a multiple of 8
  int calls = 1;              // in a stretch
  int stretches = 1;          // in a batch, at most
  int rounds = 1;             // a batch of each side in each
  std::int64_t limit_ns = 0;  // no stretch begins in a batch that has lasted longer
  bool native = true;         // the sides to measure
  bool huddle = true;
  bool huddle_first = false;  // in the first round; it alternates
  bool explain = false;       // say what huddle ran, and what else it could have
  Timing timing = Timing::apart;
};

inline std::string text(const Order& order) {
  std::ostringstream out;
  out << static_cast<int>(order.operation) << ' ' << order.bytes << ' ' << order.calls << ' '
      << order.stretches << ' ' << order.rounds << ' ' << order.limit_ns << ' ' << order.native
      << ' ' << order.huddle << ' ' << order.huddle_first << ' ' << order.explain << ' '
      << static_cast<int>(order.timing);
  return out.str();
}

// False: it is none.
inline bool read(const std::string& line, Order& order) {
  std::istringstream in(line);
  std::size_t operation = 0;
  std::size_t timing = 0;
  in >> operation >> order.bytes >> order.calls >> order.stretches >> order.rounds >>
      order.limit_ns >> order.native >> order.huddle >> order.huddle_first >> order.explain >>
      timing;
  if (!in || operation >= operations.size() || timing >= timings.size()) return false;
  order.operation = operations[operation];
  order.timing = timings[timing];
  return true;
}

// In place of huddle's back end among the words that ranks are started with: the MPI is alone.
inline constexpr std::string_view no_back_end = "-";

// The words that answers begin with, behind the mark.
inline constexpr std::string_view word_ready = "ready";    // ranks, crowded, the MPI's version
inline constexpr std::string_view word_batch = "batch";    // side, nanoseconds of each stretch
inline constexpr std::string_view word_passed = "passed";  // calls that huddle left to the MPI
inline constexpr std::string_view word_choice = "choice";  // nanoseconds, algorithm, parameters
inline constexpr std::string_view word_wrong = "wrong";    // side: data were not what they must be
inline constexpr std::string_view word_done = "done";      // the order is carried out
inline constexpr std::string_view word_failed = "failed";  // a sentence: no order can be

}  // namespace huddle::bench
