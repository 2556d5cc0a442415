// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle run --threads`: the agent that observes a program and may move its threads. It is a
// separate process that is started before the program. Also the reports about a program's threads.
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
#include "placement/threads/page_sharing.h"
#include "placement/threads/playback.h"
#include "placement/threads/recording.h"
#include "placement/threads/session.h"
#include "placement/threads/thread_masks.h"
#include "placement/threads/touch.h"
#include "placement/threads/touch_stream.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/selected_machine.h"

namespace huddle::cli {

// Passes observations to the agent, keeps what a report needs, and requests the moves that the
// agent decides.
class AgentClient : public threads::TouchObserver {
 public:
  enum class Keeps {
    everything,  // all decisions, with the sharing that they are based on
    decisions,   // all decisions, for reports that do not contain their sharing
    latest,  // for programs that run for days: the last snapshot and a limited number of decisions
  };

  // Further receivers of what is observed; null for none.
  struct Receivers {
    const threads::Mover* mover = nullptr;       // moves the threads
    threads::RecordingWriter* writer = nullptr;  // receives all events
    threads::PageSharing* sharing = nullptr;     // finds the memory that is shared
  };
  AgentClient(threads::Agent& agent, Keeps keeps, const Receivers& receivers)
      : agent_(agent),
        mover_(receivers.mover),
        writer_(receivers.writer),
        sharing_(receivers.sharing),
        keeps_(keeps) {}

  void take(const threads::Touch& touch) override {
    const std::span<const int> partners = agent_.take(touch);
    if (sharing_ != nullptr) sharing_->take(touch, partners);
    if (writer_ != nullptr) writer_->take(touch);
  }
  Actions take(const threads::Look& look) override {
    if (keeps_ == Keeps::latest) working_ = {};
    working_.take(look);
    if (writer_ != nullptr) writer_->take(look);
    if (sharing_ != nullptr) sharing_->take(look);
    if (mover_ != nullptr) agent_.take(mover_->standing());
    Actions actions;
    if (std::optional<threads::Decision> decision = agent_.take(look)) {
      actions = actions_for(*decision);
      if (keeps_ != Keeps::everything) decision->sharing = {};
      decisions_.push_back(std::move(*decision));
    }
    constexpr std::size_t most_decisions = 1000;
    if (keeps_ == Keeps::latest && decisions_.size() > most_decisions) {
      decisions_.erase(decisions_.begin());
    }
    // The number of active threads is unknown until the second snapshot.
    actions.touches = decisions_.empty() || decisions_.back().threads.size() > 1;
    actions.next_look_ms = agent_.interval_ms();
    return actions;
  }

  std::vector<int> threads_at_work() const { return working_.threads(); }
  const std::vector<threads::Decision>& decisions() const { return decisions_; }

 private:
  // Also binds the active threads that stay, because the system could move them away.
  static Actions actions_for(const threads::Decision& decision) {
    Actions actions{.restores = decision.restores};
    if (decision.reason != threads::Reason::move) return actions;
    for (std::size_t i = 0; i < decision.threads.size(); ++i) {
      actions.assignments.push_back({decision.threads[i], decision.wanted[i]});
    }
    return actions;
  }

  threads::Agent& agent_;
  const threads::Mover* mover_;
  threads::RecordingWriter* writer_;
  threads::PageSharing* sharing_;
  Keeps keeps_;
  threads::WorkingThreads working_;
  std::vector<threads::Decision> decisions_;
};

struct AgentRequest {
  bool moves = false;
  threads::Binding binding = threads::Binding::group;
  bool splits_huge = false;    // pages that are sampled
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool tells = false;   // report the observations and moves on standard error when the program ends
  std::string title;    // the program's name in that report
  std::string library;  // file to preload; empty: missing
};

struct StartedAgent {
  std::string note = {};      // the reason if there is no agent
  std::string preload = {};   // files that the program has to preload
  std::string variable = {};  // "NAME=VALUE" for its environment
  // Must stay open until this process becomes the program; exec closes it.
  FileDescriptor until_exec = {};
};

// Starts the agent for this process, which is about to become the program.
StartedAgent start_agent(const Context& context, const AgentRequest& request);

// Declares --bind for a command that moves threads if `option` is given.
void declare_binding(Options& options, std::string& word, const std::string& option);
// Declares --split-huge-pages for a command that observes a program from its start.
void declare_split_huge(Options& options, bool& splits, const std::string& when);
// Declares --allow-sysctl for a command that observes threads.
void declare_allow_sysctl(Options& options, bool& allows, const std::string& when);
// Returns null if `allowed` is false. Throws FailureError if NUMA balancing cannot be turned on.
std::unique_ptr<threads::NumaBalancing> balancing_if(bool allowed);
// Returns the rounds by which an agent forgets old touches: of each page with NUMA balancing, which
// sees pages rarely, otherwise from decision to decision.
threads::Rounds rounds_if(bool balancing);
// Throws InputError for another machine than the one on which threads are observed, because the
// hardware threads of the observed threads are not those of the other machine.
void check_observed(const SelectedMachine& machine);
// Throws UsageError for another word.
threads::Binding binding_named(const std::string& word);

// Input of the reports about a program's threads: `huddle profile` prints them at the end, `huddle
// watch` continuously. They come from a recording or from a program that was observed to its end.
struct ThreadsSubject {
  std::string command;         // "profile" or "watch"
  std::string title;           // the program or the file
  std::string machine;         // its name
  mapping::CommMatrix matrix;  // of the active threads
  std::vector<int> threads;    // their ids
  std::vector<threads::Decision> decisions;
  std::uint64_t touches = 0;
  std::uint64_t replaced = 0;         // pages whose entry in the table was replaced by another
  std::vector<std::string> notes;     // what was not observed, and why
  threads::SharedMemory memory = {};  // known only for a program that was observed while it ran
  std::optional<threads::Unobserved> unobserved = {};  // for a program that huddle started
  bool moves = false;                                  // decisions were carried out
  std::optional<threads::Playback> playback;
};

// Returns everything that the agent has counted between these threads, with the events behind it.
mapping::CommMatrix threads_matrix(const threads::Agent& agent, const std::vector<int>& threads,
                                   const std::vector<std::string>& names, std::uint32_t page_bytes);

// Returns a matrix of shades with the threads' numbers that shows which threads share pages, and
// below it the scale and the number of events. Uses only the lightest shade if the events do not
// justify a placement, because differences between pairs may then be due to chance.
// Requires: matrix.events.
std::string sharing_text(const mapping::CommMatrix& matrix, std::span<const int> threads,
                         const Console& console);
// Returns a line for each range of memory: its share of the events, the pairs of threads, and the
// variable or mapping.
std::string memory_text(const threads::SharedMemory& memory, const Console& console);
// Returns lines such as "0.40 s  do nothing: ...". Equal consecutive decisions are merged.
std::string decisions_text(const std::vector<threads::Decision>& decisions, const Console& console);
// Returns a row for each placement: the predicted communication time, absolute and relative to the
// placement by number.
std::string playback_text(const threads::Playback& playback, const Console& console);
std::string threads_text(const ThreadsSubject& subject, const Console& console);
// Also read by `huddle report`. `machine`: the machine for which the decisions were made.
std::string threads_json(const ThreadsSubject& subject, const machine::Machine& machine);

// Returns which accesses were not observed, and how much memory that concerns.
std::string unobserved_text(const threads::Unobserved& unobserved);

// Returns for example "watching took 1.3 % of ...".
std::string cost_text(const threads::Watched& watched);

}  // namespace huddle::cli
