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

#include "select/operation.h"

namespace huddle::versus {

// The two that are compared: the MPI's own functions, and huddle's in front of them.
enum class Side { native, huddle };
inline constexpr std::array<std::string_view, 2> side_names = {"native", "huddle"};
constexpr std::string_view name(Side side) { return side_names[static_cast<std::size_t>(side)]; }

using select::Operation;
using select::operations;
using select::request_of;

// Launchers and MPIs print what they like: only lines that begin so are ours.
inline constexpr std::string_view mark = "huddle-bench: ";

// One thing to measure. A stretch is what is timed: so many calls in a row, each with data of its
// own. A batch is a warm-up and so many stretches of one side.
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
};

inline std::string text(const Order& order) {
  std::ostringstream out;
  out << static_cast<int>(order.operation) << ' ' << order.bytes << ' ' << order.calls << ' '
      << order.stretches << ' ' << order.rounds << ' ' << order.limit_ns << ' ' << order.native
      << ' ' << order.huddle << ' ' << order.huddle_first << ' ' << order.explain;
  return out.str();
}

// False: it is none.
inline bool read(const std::string& line, Order& order) {
  std::istringstream in(line);
  std::size_t operation = 0;
  in >> operation >> order.bytes >> order.calls >> order.stretches >> order.rounds >>
      order.limit_ns >> order.native >> order.huddle >> order.huddle_first >> order.explain;
  if (!in || operation >= operations.size()) return false;
  order.operation = operations[operation];
  return true;
}

// The words that answers begin with, behind the mark.
inline constexpr std::string_view word_ready = "ready";    // ranks, crowded, the MPI's version
inline constexpr std::string_view word_batch = "batch";    // side, nanoseconds of each stretch
inline constexpr std::string_view word_passed = "passed";  // calls that huddle left to the MPI
inline constexpr std::string_view word_choice = "choice";  // nanoseconds, algorithm, parameters
inline constexpr std::string_view word_wrong = "wrong";    // side: data were not what they must be
inline constexpr std::string_view word_done = "done";      // the order is carried out
inline constexpr std::string_view word_failed = "failed";  // a sentence: no order can be

}  // namespace huddle::versus
