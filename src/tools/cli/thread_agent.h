// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle run --threads`: the agent that watches a program, and may move its threads, is a process
// beside it that was there before it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/file.h"
#include "model/machine/machine.h"
#include "placement/mapping/comm_matrix.h"
#include "placement/threads/agent.h"
#include "placement/threads/mover.h"
#include "placement/threads/numa_balancing.h"
#include "placement/threads/playback.h"
#include "placement/threads/recording.h"
#include "placement/threads/session.h"
#include "placement/threads/thread_masks.h"
#include "placement/threads/touch.h"
#include "placement/threads/touch_stream.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"

namespace huddle::cli {

// Who is told what a watched program does.

// Keeps what was seen, asks the agent as it goes, and says whom to move where somebody does that.
class Witness : public threads::Listener {
 public:
  enum class Keeps {
    everything,
    latest,  // of a program that may run for days: the last look, and so many decisions
  };

  // `mover`: null where nobody is moved.
  explicit Witness(threads::Agent& agent, const threads::Mover* mover = nullptr,
                   Keeps keeps = Keeps::everything)
      : agent_(agent), mover_(mover), keeps_(keeps) {}

  void take(const threads::Touch& touch) override {
    agent_.take(touch);
    if (keeps_ == Keeps::everything) events_.emplace_back(touch);
  }
  Wish take(const threads::Look& look) override {
    if (keeps_ == Keeps::latest) events_.clear();
    events_.emplace_back(look);
    if (mover_ != nullptr) agent_.take(mover_->standing());
    Wish wish;
    if (std::optional<threads::Decision> decision = agent_.take(look)) {
      wish = wish_of(*decision);
      if (keeps_ == Keeps::latest) decision->sharing = {};
      decisions_.push_back(std::move(*decision));
    }
    constexpr std::size_t most_decisions = 1000;
    if (keeps_ == Keeps::latest && decisions_.size() > most_decisions) {
      decisions_.erase(decisions_.begin());
    }
    // As long as nobody has looked twice, nobody knows how many are at work.
    wish.touches = decisions_.empty() || decisions_.back().threads.size() > 1;
    wish.next_look_ms = agent_.interval_ms();
    return wish;
  }

  const threads::Events& events() const { return events_; }
  threads::Events take_events() { return std::move(events_); }
  const std::vector<threads::Decision>& decisions() const { return decisions_; }

 private:
  // All that are at work: whoever stays is bound as well, or the system might move him away.
  static Wish wish_of(const threads::Decision& decision) {
    Wish wish{.gives_back = decision.gives_back};
    if (decision.reason != threads::Reason::move) return wish;
    for (std::size_t i = 0; i < decision.threads.size(); ++i) {
      wish.seats.push_back({decision.threads[i], decision.wanted[i]});
    }
    return wish;
  }

  threads::Agent& agent_;
  const threads::Mover* mover_;
  Keeps keeps_;
  threads::Events events_;
  std::vector<threads::Decision> decisions_;
};

struct AgentRequest {
  bool moves = false;
  threads::Binding binding = threads::Binding::group;
  bool splits_huge = false;    // pages that are looked at
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool tells = false;          // at the program's end, on standard error, what was seen and done
  std::string title;           // what the program is called there
  std::string library;         // what is preloaded; empty: it is not there
};

struct StartedAgent {
  std::string note = {};      // why there is none: a sentence
  std::string preload = {};   // what the program has to have preloaded
  std::string variable = {};  // "NAME=VALUE" for its environment
  // It has to be open until this process becomes the program, and closes by that.
  FileDescriptor until_exec = {};
};

// For this process, which is about to become the program.
StartedAgent start_agent(const Context& context, const AgentRequest& request);

// --bind, of a command that moves threads when `option` is given.
void declare_binding(Options& options, std::string& word, const std::string& option);
// --split-huge, of a command that watches a program from its start.
void declare_split_huge(Options& options, bool& splits, const std::string& when);
// --allow-sysctl, of a command that watches threads.
void declare_allow_sysctl(Options& options, bool& allows, const std::string& when);
// Null where it is not asked for. Throws FailureError where it cannot be.
std::unique_ptr<threads::NumaBalancing> balancing_if(bool allowed);
// How an agent has to count who is told by that.
threads::Rounds rounds_if(bool balancing);
// Throws UsageError for another word.
threads::Binding binding_named(const std::string& word);

// What is said of a program's threads: by `huddle profile` at the end, by `huddle watch` as it
// goes.

// Of a recording, or of a program that was watched to its end.
struct ThreadsSubject {
  std::string command;         // "profile" or "watch"
  std::string title;           // the program or the file
  std::string machine;         // its name
  mapping::CommMatrix matrix;  // of the threads at work
  std::vector<int> threads;    // their numbers
  std::vector<threads::Decision> decisions;
  std::uint64_t touches = 0;
  std::uint64_t replaced = 0;      // pages that lost their entry in the table to another
  std::vector<std::string> notes;  // what was not seen, and why
  std::optional<threads::Unobserved> unobserved = {};  // of a program that huddle has started
  bool moves = false;                                  // decisions were carried out
  std::optional<threads::Playback> playback;
};

// Returns everything that the agent has counted between these threads, with the events behind it.
mapping::CommMatrix threads_matrix(const threads::Agent& agent, const std::vector<int>& threads,
                                   const std::vector<std::string>& names, std::uint32_t page_bytes);

// Who shares pages with whom, as a square of shades with the threads' numbers.
std::string sharing_text(const mapping::CommMatrix& matrix, std::span<const int> threads,
                         const Console& console);
// "0.40 s  do nothing: ...", with equal ones in a row put together.
std::string decisions_text(const std::vector<threads::Decision>& decisions, const Console& console);
// A row of each placement: predicted communication time, and in parts of that by number.
std::string playback_text(const threads::Playback& playback, const Console& console);
std::string threads_text(const ThreadsSubject& subject, const Console& console);
// For `huddle report` as well: `machine` is the one that was decided for.
std::string threads_json(const ThreadsSubject& subject, const machine::Machine& machine);

// Returns which accesses were not observed, and how much memory that concerns.
std::string unobserved_text(const threads::Unobserved& unobserved);

// "watching took 1.3 % of ...".
std::string cost_text(const threads::Watched& watched);

}  // namespace huddle::cli
