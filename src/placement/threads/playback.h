// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a recording would have cost on a machine: with its threads placed once and for all, and with
// the agent moving them as it goes.
//
// Predicted communication time: each time that a page was seen to go from one thread to another,
// each of its lines goes the way between the two processors. That is the least: between two looks
// at a page its lines go to and fro many times.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"
#include "placement/mapping/graph.h"
#include "placement/threads/agent.h"
#include "placement/threads/recording.h"

namespace huddle::threads {

// Those that did a tenth of what the busiest did, or more: by the last look at each.
std::vector<int> threads_at_work(const Events& events);

// Where threads sit when the program begins: by number, neighbouring processors first, or each as
// far from the last as it can be, as Linux does it with threads that were just started.
enum class Start { order, compact, spread };
inline constexpr std::array<std::string_view, 3> start_names = {"order", "compact", "spread"};
std::optional<Start> start_named(std::string_view name);

// The same events with thread t of those at work on the t-th processor of that start, and stays
// there. Helpers sit with the others, one after the other.
Events seated(Events events, const machine::CostModel& model, Start start);

// A placement that stays.
struct PlacementTime {
  std::string_view name;
  std::vector<int> processors;  // by thread at work
  double ns = 0;
};

struct Playback {
  std::vector<int> threads;  // at work
  mapping::Graph counts;     // between these: of the whole recording
  // order, compact, spread, lh (published, corrected), tree: the last two know all that is to come.
  // Empty where there are fewer than two threads at work, or more than processors.
  std::vector<PlacementTime> standing;
  Start start = Start::spread;
  std::vector<Decision> decisions;  // of the agent
  double agent_ns = 0;              // from that start, with its moves; without what they cost
  double moving_ns = 0;             // what they cost
  double settled_ns = 0;            // of the whole recording, as they sit after its last move
  int moves = 0;

  double agent_total_ns() const { return agent_ns + moving_ns; }
  double standing_ns(std::string_view name) const;
  // What was said most often.
  Reason verdict() const;
};

Playback play(const Recording& recording, const machine::CostModel& model, Start start,
              AgentOptions options);

// Of counts between threads on these processors. `line_ns` of one and the same processor is that of
// its nearest neighbour.
double communication_ns(const mapping::Graph& counts, const machine::CostModel& model,
                        const std::vector<int>& processors, std::uint32_t page_bytes);

}  // namespace huddle::threads
