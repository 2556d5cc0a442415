// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A comparison as data: who competes, where, and what has to come out; and what did come out.
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

// How long a comparison lasts.
struct Scale {
  bool quick = false;  // a first idea: fewer stretches

  int stretches(int usual) const { return quick ? (usual + 3) / 4 : usual; }
  // Calls that are timed one by one, in a round: fewer of those that move much.
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
  bool bare = false;  // what any huddle is held against
  int calls = 1;      // in a stretch, which is timed as a whole
  int stretches = 1;  // in a round; their median is the round's figure
  std::optional<double> predicted_ns = std::nullopt;
};

// What a ratio may be.
struct Bar {
  enum class Kind {
    time_at_most,   // subject's time over the rival's
    rate_at_least,  // subject's bandwidth over the rival's
  };
  Kind kind = Kind::time_at_most;
  double limit = 1;
};

struct Judgement {
  std::string what;
  std::size_t subject = 0;          // number of an entry
  std::vector<std::size_t> rivals;  // the fastest of them counts
  Bar bar;
  // Bytes that each side moves a call, for rates: data for data where the two do not do the same.
  double subject_bytes = 0;
  double rival_bytes = 0;
};

struct Comparison {
  std::string name;
  Binding binding;
  std::size_t bytes = 0;  // that each rank's buffers have
  std::vector<Entry> entries;
  std::vector<Judgement> judgements;
  bool in_heap = false;  // the buffers, so that other ranks can map them
};

struct EntryResult {
  std::string name;
  std::string how;
  bool bare = false;
  int calls = 1;
  int stretches = 1;
  std::optional<double> predicted_ns;
  std::vector<double> ns;  // a call, one figure a round
};

struct Verdict {
  std::string what;
  std::size_t subject = 0;
  std::size_t rival = 0;
  Bar bar;
  double subject_bytes = 0;
  double rival_bytes = 0;
  std::vector<double> ratios;  // one a round
  double median = 0;
  double spread = 0;  // relative
  bool holds = false;
};

struct Result {
  std::string name;
  Binding binding;
  std::size_t bytes = 0;
  int rounds = 0;          // that were finished
  long switched_away = 0;  // how often something else took a rank's processor
  std::vector<EntryResult> entries;
  std::vector<Verdict> verdicts;
};

}  // namespace huddle::bench
