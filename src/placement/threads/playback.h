// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Replays a recording on a model of a machine, and predicts the communication time with fixed
// placements and with the agent moving threads.
//
// Predicted communication time: each event transfers each cache line of its page once between the
// hardware threads of the two threads. This is a lower bound, because the lines may move many times
// between two samples of a page.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"
#include "placement/mapping/graph.h"
#include "placement/threads/agent.h"
#include "placement/threads/recording.h"

namespace huddle::threads {

// Finds the threads whose CPU time, at the last sample of each, was at least a tenth of the busiest
// thread's.
class WorkingThreads {
 public:
  void take(const Look& look);
  std::vector<int> threads() const;

 private:
  std::map<int, std::uint64_t> used_ns_;  // by thread
};
// Returns these threads for all events.
std::vector<int> threads_at_work(const Events& events);

// Initial placement: hardware threads in numeric order, in topology order, or spread as far apart
// as possible, which Linux does with new threads.
enum class Start { order, compact, spread };
inline constexpr std::array<std::string_view, 3> start_names = {"order", "compact", "spread"};
std::optional<Start> start_named(std::string_view name);

// Returns the events as if the working threads were bound to the hardware threads of `start`, in
// order. All other threads share these hardware threads in turn.
Events seated(Events events, const machine::CostModel& model, Start start);

// A placement that does not change.
struct PlacementTime {
  std::string_view name;
  std::vector<int> processors;  // by thread at work
  double ns = 0;
};

struct Playback {
  std::vector<int> threads;  // at work
  mapping::Graph counts;     // between these threads, of the whole recording
  // Times for order, compact, spread, lh and tree; the last two know the whole recording in
  // advance. Empty if fewer than two threads are at work, or more than there are hardware threads.
  std::vector<PlacementTime> standing;
  Start start = Start::spread;
  std::vector<Decision> decisions;  // decisions of the agent
  double agent_ns = 0;              // from that start, with the agent's moves, without their cost
  double moving_ns = 0;             // cost of the moves
  double settled_ns = 0;  // of the whole recording, with the placement after the last move
  int moves = 0;

  double agent_total_ns() const { return agent_ns + moving_ns; }
  double standing_ns(std::string_view name) const;
  // Returns the most frequent reason.
  Reason verdict() const;
};

Playback play(const Recording& recording, const machine::CostModel& model, Start start,
              AgentOptions options);

// Returns the communication time of `counts` on these hardware threads. Threads on the same
// hardware thread have the latency of its nearest neighbour.
double communication_ns(const mapping::Graph& counts, const machine::CostModel& model,
                        const std::vector<int>& processors, std::uint32_t page_bytes);

}  // namespace huddle::threads
