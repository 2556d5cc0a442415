// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Data types of a comparison: its entries, the binding of its ranks, the required ratios, and the
// results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/rank_processes.h"

namespace huddle::bench {

// Determines how long a comparison takes.
struct Scale {
  bool quick = false;  // a quarter of the stretches, for a first impression

  int stretches(int usual) const { return quick ? (usual + 3) / 4 : usual; }
  // Returns the number of calls per round if each call is timed on its own. It is smaller for large
  // messages.
  int single_calls(std::size_t bytes) const {
    constexpr std::size_t bytes_a_round = std::size_t{32} << 20;
    constexpr std::size_t least = 4;
    constexpr std::size_t most = 64;
    return stretches(
        static_cast<int>(std::clamp(bytes_a_round / std::max<std::size_t>(bytes, 1), least, most)));
  }
};

struct Entry {
  std::string name;
  std::unique_ptr<Implementation> implementation;
  bool bare = false;  // hand-written baseline for huddle's entries
  int calls = 1;      // per stretch, which is timed as a whole
  int stretches = 1;  // per round; their median is the round's result
  std::optional<double> predicted_ns = std::nullopt;
};

// Limit for the ratio of a subject to its rival.
struct Bar {
  enum class Kind {
    time_at_most,   // subject's time divided by the rival's
    rate_at_least,  // subject's bandwidth divided by the rival's
  };
  Kind kind = Kind::time_at_most;
  double limit = 1;
};

struct Requirement {
  std::string what;
  std::size_t subject = 0;          // index of an entry
  std::vector<std::size_t> rivals;  // indices of entries, of which the fastest is used
  Bar bar;
  // Bytes that each side moves per call, for rates. They make operations that move different
  // amounts of data comparable.
  double subject_bytes = 0;
  double rival_bytes = 0;
};

struct Comparison {
  std::string name;
  Binding binding;
  std::size_t bytes = 0;  // size of each rank's buffers
  std::vector<Entry> entries;
  std::vector<Requirement> judgements;
  bool in_heap = false;  // allocate the buffers in the heap, so that other ranks can map them
};

struct EntryResult {
  std::string name;
  std::string how;
  bool bare = false;
  int calls = 1;
  int stretches = 1;
  std::optional<double> predicted_ns;
  std::vector<double> ns;  // per call, one value per round
};

struct Verdict {
  std::string what;
  std::size_t subject = 0;
  std::size_t rival = 0;
  Bar bar;
  double subject_bytes = 0;
  double rival_bytes = 0;
  std::vector<double> ratios;  // one per round
  double median = 0;
  double spread = 0;  // relative
  bool holds = false;
};

struct Result {
  std::string name;
  Binding binding;
  std::size_t bytes = 0;
  int rounds = 0;          // completed rounds
  long switched_away = 0;  // involuntary context switches of the ranks
  std::vector<EntryResult> entries;
  std::vector<Verdict> verdicts;
};

}  // namespace huddle::bench
