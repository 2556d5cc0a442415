// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Decides from observed memory sharing whether threads should move. Receives events and returns
// decisions; uses no clock and no system call, so that a recording reproduces its decisions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/topology.h"
#include "placement/mapping/bandwidth.h"
#include "placement/mapping/evidence.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/mapping.h"
#include "placement/mapping/slots.h"
#include "placement/threads/thread_masks.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

// Returns the hardware threads of a mapping. Unlike slots, they stay valid if the tree is rebuilt.
std::vector<int> processors_of(const mapping::SlotTree& tree, const mapping::Mapping& mapping);

// Returns the cost in ns of one cache line per counted event. Threads on hardware threads that are
// not in the tree are not counted.
double communication_cost_ns(const mapping::Graph& counts, const mapping::SlotTree& tree,
                             const std::vector<int>& processors);

// Specifies whether a placement must keep the number of NUMA nodes and the memory bandwidth that
// threads have, if the agent does not know how much bandwidth they need.
enum class Memory { kept, ignored };

struct AgentOptions {
  Counting counting = Counting::every_change;
  Rounds rounds = Rounds::of_decisions;
  double kept_after_decision = 0.75;  // fraction of the matrix that remains after a decision
  // Interval between decisions. It grows while the placement hardly changes; else it shrinks.
  int first_interval_ms = 200;
  int interval_step_ms = 50;
  int least_interval_ms = 50;
  int most_interval_ms = 1000;
  double nearly_same = 0.05;  // fraction of pairs that may have a different level of sharing
  // A thread that uses less than this fraction of the busiest thread's CPU time is not placed.
  double least_share_of_busiest = 0.1;
  Memory memory = Memory::kept;
  // Number and variation of events that a decision requires. Some of the events must be new.
  mapping::EvidenceLimits evidence = {};
  // Fraction of the predicted saving that later samples must confirm.
  double least_confirmed = 0.5;
  double must_pay_within_s = 10;
  int cool_off_ms = 1000;  // after a move
  // Events within this time are not independent of each other, because threads alternate.
  int batch_ms = 50;
  std::uint32_t page_bytes = 4096;
};

// Outcome of a decision. Only `move` moves threads.
enum class Reason {
  one_thread,        // at most one thread at work
  too_few_touches,   // too few accesses to pages of other threads
  all_alike,         // all pairs share about the same
  too_many_threads,  // more threads at work than hardware threads
  best_already,      // no better placement was found
  less_memory,       // a better placement was found, but it leaves threads less memory bandwidth
  too_little_gain,   // the gain is smaller than the cost of moving
  seen_once,         // a move, provided that the next decision confirms it
  cooling_off,       // a move, but the last one was too recent
  move,
};

struct Decision {
  std::uint64_t time_ns = 0;
  Reason reason = Reason::one_thread;
  int interval_ms = 0;                // since the previous decision
  std::vector<int> threads = {};      // threads at work
  std::vector<int> assignments = {};  // hardware thread on which each was seen or is bound
  mapping::Graph sharing = {};        // counts between threads[0], threads[1], ..., faded
  // Hardware thread of each thread now and in the better placement. Empty if none was computed.
  std::vector<int> present = {};
  std::vector<int> wanted = {};
  double counts = 0;  // between threads at work
  double saved = 0;   // fraction of the predicted time
  // Predicted time per second of the run, now and in the better placement.
  mapping::PredictedTime before = {}, after = {};
  bool knows_memory = false;  // the time to wait for memory is part of it
  double gain_s = 0;          // lower confidence bound of the gain within must_pay_within_s
  double cost_s = 0;          // cost of moving
  int moved = 0;              // number of threads that change their hardware thread
  // Memory that the threads use now and with the best placement, if that was rejected because it
  // leaves them less.
  struct Rejected {
    mapping::MemoryUse now, then;
  };
  std::optional<Rejected> rejected = {};
  // Threads that were moved before get their original masks back.
  bool restores = false;
};

// Returns action and reason: "do nothing: fewer than two threads at work".
std::string text_of(const Decision& decision);
// Returns the reason alone, for JSON: "too few touches".
std::string_view name_of(Reason reason);

class Agent {
 public:
  // Keeps a reference to `model`. `allowed`: hardware threads on which threads may be placed.
  Agent(const machine::CostModel& model, const machine::CpuSet& allowed, AgentOptions options);

  // Returns the threads with which this touch counts as communication. Valid until the next call.
  std::span<const int> take(const Touch& touch);
  // Returns a decision if the interval has passed.
  std::optional<Decision> take(const Look& look);

  // Call with the result of a move if a Mover carries out decisions. Otherwise the agent assumes
  // that every move succeeds.
  void take(const Standing& standing);

  // current interval between decisions
  int interval_ms() const { return interval_ms_; }
  // Returns all events since the start, without fading.
  const SharingMatrix& whole() const { return whole_; }
  // Returns the events between these threads since the start.
  mapping::Events whole_events(const std::vector<int>& threads) const;
  // Returns the traffic of these threads since the start; nothing if it was not counted.
  std::optional<mapping::MemoryTraffic> whole_traffic(const std::vector<int>& threads) const;
  const SharingMatrix& recent() const { return recent_; }
  std::uint64_t touches() const { return touches_; }
  std::uint64_t replaced() const { return table_.replaced(); }

 private:
  void forget(const std::vector<int>& threads);
  Decision decide(const Look& look);
  std::vector<int> at_work(const Look& look);
  void finish_batch(std::uint64_t time_ns);
  mapping::Events recent_events(const std::vector<int>& threads) const;
  bool is_fresh(const std::vector<int>& threads) const;
  Decision spread_if_streaming(const Decision& decision, const mapping::Events& events);
  mapping::PredictedTime per_second(const mapping::PredictedTime& seen) const;
  void look_for_better(Decision& decision, const mapping::Events& events);
  mapping::Mapping better_placement(const mapping::MappingProblem& problem,
                                    Decision& decision) const;
  mapping::Mapping exchanged(const mapping::MappingProblem& problem) const;
  Reason judge(const Decision& decision, const mapping::SlotTree& tree);
  // Returns whether the events since the last decision confirm the placement of that decision.
  bool confirmed(const Decision& decision, const mapping::SlotTree& tree) const;
  int present_processor(const Look& look, int thread) const;
  struct Traffic {
    std::optional<std::uint64_t> counter = {};
    double fresh = 0, recent = 0, whole = 0;  // bytes, in the same times as fresh_, recent_, whole_
  };
  void count_traffic(const Look& look);
  std::optional<mapping::MemoryTraffic> traffic(const std::vector<int>& threads, double seconds,
                                                double Traffic::*bytes) const;
  // Returns whether the traffic of these threads and the machine's copy curves are known.
  bool weighs_memory(const std::vector<int>& threads) const;
  double lines_per_event() const;
  double refill_s(const mapping::SlotTree& tree) const;  // time to refill one core's private cache
  void adjust_interval(bool same);

  const machine::CostModel& model_;
  machine::CpuSet allowed_;
  AgentOptions options_;
  TouchTable table_;
  SharingMatrix batch_, fresh_, recent_, whole_;  // fresh_: since the last decision
  std::uint64_t batch_end_ns_ = 0;
  // Variance of the counts in `recent_` if all pairs were alike. Summed per batch, because only
  // batches are independent of each other.
  double chance_ = 0;
  double whole_chance_ = 0;  // the same for `whole_`
  // threads at work at the last decision, or all threads before the first one
  std::vector<int> busy_;
  double seen_s_ = 0;  // time in seconds that `recent_` represents
  std::uint64_t touches_ = 0;
  int interval_ms_;
  std::uint64_t first_look_ns_ = 0, last_decision_ns_ = 0;
  bool has_looked_ = false;
  std::vector<std::uint64_t> cpu_before_ns_;  // by thread, at the last decision
  std::vector<Traffic> traffic_;              // by thread
  double fresh_s_ = 0, whole_s_ = 0;          // time in seconds since the last decision, the start
  // By thread: the hardware thread to which a move has bound it; -1 if it is not bound.
  std::vector<int> bound_;
  std::vector<int> alone_;  // threads that must not be moved
  struct Proposal {
    std::vector<int> threads, processors;
    double saved = 0;
  };
  std::optional<Proposal> last_proposal_;
  std::optional<std::uint64_t> last_move_ns_;
};

// Returns all decisions for a sequence of events.
std::vector<Decision> replay(const Events& events, Agent& agent);

}  // namespace huddle::threads
