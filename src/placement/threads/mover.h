// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Carries out the agent's decisions: binds threads of watched processes, records first what has to
// be restored, claims hardware threads among all agents of this user, and runs a guardian.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/agent_socket.h"
#include "placement/threads/child_processes.h"
#include "placement/threads/kept_state.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/state_folder.h"
#include "placement/threads/thread_masks.h"
#include "placement/threads/touch_stream.h"

namespace huddle::threads {

// Binds threads within their original masks, which it remembers. Does not change threads that
// another program has bound, whether before or in the meantime.
class Binder {
 public:
  // Records a line before the change that it describes. Returns false if that fails.
  using Note = std::function<bool(std::string_view line)>;

  // Keeps a reference to `masks`.
  Binder(ThreadMasks& masks, Note note) : masks_(masks), note_(std::move(note)) {}

  // Handles a new thread, which has inherited its creator's mask: gives it the creator's original
  // mask.
  void take(const Birth& birth);
  // Updates the list of the process's threads: finds those that are new, ended or bound by another
  // program. A thread that is alive but not in `threads` gets its original mask back.
  void look(pid_t process, const std::vector<pid_t>& threads);

  enum class Outcome {
    bound,
    alone,        // another program has bound it
    gone,         // ended, or never seen
    not_allowed,  // its original mask contains none of these hardware threads
    refused,      // by the system
    not_noted,    // could not be recorded, therefore not done
  };
  // Binds a thread. `claim` is the one of `processors` that counts as occupied by it.
  Outcome bind(pid_t thread, const machine::CpuSet& processors, int claim);
  // Restores the masks of all bound threads. Returns their number.
  int restore();

  const SavedState& kept() const { return kept_; }
  bool is_alone(pid_t thread) const;
  int left_alone() const { return left_alone_; }  // number of threads, including ended ones

 private:
  struct Known {
    Identity thread = {};
    pid_t process = 0;
    machine::CpuSet original = {};
    bool alone = false;
  };
  void meet(pid_t process, pid_t thread);
  void leave_alone(Known& one);
  void let_go(pid_t thread);
  bool is_changed(const Known& one) const;

  ThreadMasks& masks_;
  Note note_;
  SavedState kept_;
  std::map<pid_t, Known> known_;
  std::map<Identity, machine::CpuSet> usual_;  // usual mask of the threads of a process
  int left_alone_ = 0;
};

class Mover {
 public:
  // Moves threads of `process` and of its children among the hardware threads `allowed`. First
  // restores the masks of threads that were moved by agents which have died. Throws FailureError if
  // the original masks cannot be recorded, or if another agent moves these threads already.
  Mover(pid_t process, const machine::Topology& topology, machine::CpuSet allowed, Binding binding,
        const std::string& folder);
  // Starts the mover of the first program of a job, or hands the program over to an agent of the
  // same job that moves threads among the same hardware threads with the same binding. Returns null
  // if that agent has accepted it. With an empty `job`, always starts one.
  static std::unique_ptr<Mover> join_or_start(const AwaitedProgram& program,
                                              const machine::Topology& topology,
                                              const machine::CpuSet& allowed, Binding binding,
                                              const std::string& job, const std::string& folder);
  // Restores everything.
  ~Mover();
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  void take(const std::vector<Birth>& births);
  void look(const ThreadList& threads);
  // Moves no thread if another agent has claimed one of the target hardware threads in the
  // meantime.
  void move(const std::vector<Assignment>& assignments);
  void restore();
  // readable if another program can be accepted; -1 if none will be
  int socket() const { return socket_ ? socket_->descriptor() : -1; }
  // Returns the next program. Does not block.
  std::optional<AwaitedProgram> accept();
  // Call if no program is left: returns the next one, or closes the socket for good.
  std::optional<AwaitedProgram> accept_or_close();
  // If the guardian has ended, restores everything and moves no further threads.
  void check_guardian();

  Standing standing() const;
  int moves() const { return moves_; }
  std::vector<std::string> notes() const;

 private:
  Mover(const StateFolder::Lock& lock, const Identity& program, const machine::Topology& topology,
        machine::CpuSet allowed, Binding binding, const std::string& folder);
  void serve(const std::string& terms);
  machine::CpuSet claimed_by_others() const;
  void end();

  machine::Topology topology_;
  machine::CpuSet allowed_;
  Binding binding_;
  SystemMasks masks_;
  StateFolder folder_;
  std::unique_ptr<StateFile> file_;  // null after the end
  std::unique_ptr<Guardian> guardian_;
  Binder binder_;
  Identity self_;
  std::optional<AgentSocket> socket_;  // empty if it serves one program only
  std::set<pid_t> processes_;          // processes with threads at the last look()
  std::map<pid_t, int> numbers_;
  std::map<Binder::Outcome, int> outcomes_;
  machine::CpuSet claimed_;  // by other agents, at the last check
  int moves_ = 0, refused_moves_ = 0;
  bool lost_guardian_ = false;
  std::string refusal_;      // from an agent that could have been shared
  std::string why_no_lock_;  // reason of the last failure to get the lock
};

}  // namespace huddle::threads
