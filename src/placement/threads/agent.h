// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The agent's mind: who communicates with whom, and whether threads should move. Events go in,
// decisions come out; it asks no clock and no system, so that a recording gives the same decisions
// again, bit for bit.
#pragma once

#include <cstdint>
#include <optional>
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

// Mappings told by processors, which stay the same where a tree of slots is made anew.
std::vector<int> processors_of(const mapping::SlotTree& tree, const mapping::Mapping& mapping);

// A line each for what is counted of every pair, between these processors. Who sits on one that is
// none of the tree's is not counted.
double way_ns(const mapping::Graph& counts, const mapping::SlotTree& tree,
              const std::vector<int>& processors);

// Decides whether a placement may leave threads fewer NUMA nodes, or less memory bandwidth, than
// they have. The agent knows what threads share, but not how much bandwidth they need.
enum class Memory { kept, ignored };

struct AgentOptions {
  Counting counting = Counting::every_change;
  Rounds rounds = Rounds::of_decisions;
  double kept_after_decision = 0.75;  // of the matrix
  // Decisions come less often while the placement stays nearly the same, more often when it does
  // not.
  int first_interval_ms = 200;
  int interval_step_ms = 50;
  int least_interval_ms = 50;
  int most_interval_ms = 1000;
  double nearly_same = 0.05;  // of all pairs may have changed their nearest common cache
  // A thread that uses less than this share of what the busiest uses is a helper.
  double least_share_of_busiest = 0.1;
  Memory memory = Memory::kept;
  // When events suffice for a decision; a part of the events must be new.
  mapping::EvidenceLimits evidence = {};
  // Of what a placement was to save, what has been seen since must confirm so much.
  double least_confirmed = 0.5;
  double must_pay_within_s = 10;
  int cool_off_ms = 1000;  // after a move
  // What is counted within such a time hangs together: threads take turns.
  int batch_ms = 50;
  std::uint32_t page_bytes = 4096;
};

enum class Reason {
  one_thread,        // at most one at work
  too_few_touches,   // of a page by two threads
  all_alike,         // pairs share about the same: nobody is nearer than others
  too_many_threads,  // more at work than processors
  best_already,      // nothing better was found
  less_memory,       // something better was found, but it leaves threads less memory bandwidth
  too_little_gain,   // less than moving costs
  seen_once,         // a move, if it is the same next time
  cooling_off,       // a move, and the last one was just now
  move,
};

struct Decision {
  std::uint64_t time_ns = 0;
  Reason reason = Reason::one_thread;
  int interval_ms = 0;            // since the last one
  std::vector<int> threads = {};  // those at work
  std::vector<int> seats = {};    // where each was seen to run, or is bound
  mapping::Graph sharing = {};    // what has not faded of their counts: of threads[0], [1] ...
  // By the one before: the processor where each is, and where it should be. Empty where nothing
  // was looked for.
  std::vector<int> present = {};
  std::vector<int> wanted = {};
  double counts = 0;  // between threads at work
  double saved = 0;   // the share of what communication costs
  double gain_s = 0;  // in the time within which it has to pay, at the lower end
  double cost_s = 0;  // of moving
  int moved = 0;      // threads that change their processor
  // The memory that threads use now and with the nearest placement, if that was rejected because
  // it leaves them less.
  struct Rejected {
    mapping::MemoryUse now, then;
  };
  std::optional<Rejected> rejected = {};
  // Threads had been moved, and this is nothing that they should stay bound for.
  bool gives_back = false;
};

// What to do, and why: "do nothing: fewer than two threads at work".
std::string text_of(const Decision& decision);
// Of the reason alone, for whoever reads JSON: "too few touches".
std::string_view name_of(Reason reason);

class Agent {
 public:
  // Keeps a reference to the model. `allowed`: processors that threads may be put on.
  Agent(const machine::CostModel& model, const machine::CpuSet& allowed, AgentOptions options);

  void take(const Touch& touch);
  // A decision, if it is time for one.
  std::optional<Decision> take(const Look& look);

  // Where somebody carries decisions out: what came of them. Otherwise it is taken for granted that
  // threads sit where a move has put them.
  void take(const Standing& standing);

  // From the last decision to the next.
  int interval_ms() const { return interval_ms_; }
  // Of everything since the start; the other fades as decisions are made.
  const SharingMatrix& whole() const { return whole_; }
  // Returns the events between these threads since the start.
  mapping::Events whole_events(const std::vector<int>& threads) const;
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
  void look_for_better(Decision& decision, const mapping::Events& events);
  mapping::Mapping better_placement(const mapping::Problem& problem, Decision& decision) const;
  mapping::Mapping exchanged(const mapping::Problem& problem) const;
  Reason judge(const Decision& decision, const mapping::SlotTree& tree);
  // What has been seen since the last decision says the same of what was wanted then.
  bool confirmed(const Decision& decision, const mapping::SlotTree& tree) const;
  int present_processor(const Look& look, int thread) const;
  double refill_s(const mapping::SlotTree& tree) const;  // of one core's caches
  void adjust_interval(bool same);

  const machine::CostModel& model_;
  machine::CpuSet allowed_;
  AgentOptions options_;
  TouchTable table_;
  SharingMatrix batch_, fresh_, recent_, whole_;  // fresh: since the last decision
  std::uint64_t batch_end_ns_ = 0;
  // What the spread of `recent_` would be, were all pairs alike: each batch by itself, for those
  // are all that is independent of each other.
  double chance_ = 0;
  double whole_chance_ = 0;  // the same for `whole_`
  std::vector<int> busy_;    // at the last decision; all that were seen before there was one
  double seen_s_ = 0;        // the time that `recent_` stands for
  std::uint64_t touches_ = 0;
  int interval_ms_;
  std::uint64_t first_look_ns_ = 0, last_decision_ns_ = 0;
  bool has_looked_ = false;
  std::vector<std::uint64_t> cpu_before_ns_;  // by thread, at the last decision
  // By thread: where a move has put it; -1: where the system has.
  std::vector<int> bound_;
  std::vector<int> alone_;  // threads that stay where they are
  struct Wish {
    std::vector<int> threads, processors;
    double saved = 0;
  };
  std::optional<Wish> last_wish_;
  std::optional<std::uint64_t> last_move_ns_;
};

// All decisions that these events lead to.
std::vector<Decision> replay(const Events& events, Agent& agent);

}  // namespace huddle::threads
