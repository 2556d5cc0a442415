// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Carries out what the agent decides: binds threads of watched processes, writes down before what
// has to be given back, claims processors among all agents of this user, and has a guardian.
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

// Binds threads, each within what it was allowed, and knows what each had. A thread that somebody
// else has bound, before or meanwhile, is left alone from then on.
class Binder {
 public:
  // Writes a line down before what it tells of is done; false where that cannot be.
  using Note = std::function<bool(std::string_view line)>;

  // Keeps a reference to the masks.
  Binder(ThreadMasks& masks, Note note) : masks_(masks), note_(std::move(note)) {}

  // A thread was born: it has inherited the mask of its creator, and gets what that one had.
  void take(const Birth& birth);
  // These are the threads of the process now. Finds out who is new, who is gone, and whom somebody
  // else has bound. One that lives and is not among them gets back what it had.
  void look(pid_t process, const std::vector<pid_t>& threads);

  enum class Outcome {
    bound,
    alone,        // somebody else has bound it
    gone,         // or never seen
    not_allowed,  // none of these is among the processors that it had
    refused,      // by the system
    not_noted,    // could not be written down, and so was not done
  };
  // `claim`: the one of these processors that is counted as taken by it.
  Outcome bind(pid_t thread, const machine::CpuSet& processors, int claim);
  // All that are bound get back what they had. How many did.
  int give_back();

  const KeptState& kept() const { return kept_; }
  bool is_alone(pid_t thread) const;
  int left_alone() const { return left_alone_; }  // threads, of those gone as well

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
  KeptState kept_;
  std::map<pid_t, Known> known_;
  std::map<Identity, machine::CpuSet> usual_;  // what threads of a process have
  int left_alone_ = 0;
};

class Mover {
 public:
  // Of threads of this process, and of its children. `allowed`: where threads may be put. Gives
  // back what others have left. Throws FailureError where it cannot be kept what threads had, and
  // where another agent moves them already.
  Mover(pid_t process, const machine::Topology& topology, machine::CpuSet allowed, Binding binding,
        const std::string& folder);
  // Of the first of programs that share an agent: those of one job, unless that is empty. Null
  // where there is one that moves threads among these very processors, with this binding: then it
  // has been handed the program.
  static std::unique_ptr<Mover> join_or_start(const AwaitedProgram& program,
                                              const machine::Topology& topology,
                                              const machine::CpuSet& allowed, Binding binding,
                                              const std::string& job, const std::string& folder);
  // Gives back everything.
  ~Mover();
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  void take(const std::vector<Birth>& births);
  void look(const ThreadList& threads);
  // Nobody is bound where one of these processors is another agent's by now.
  void move(const std::vector<Seat>& seats);
  void give_back();
  // Readable when another program is to be taken in; -1: none ever.
  int socket() const { return socket_ ? socket_->descriptor() : -1; }
  // The next one. Does not wait.
  std::optional<AwaitedProgram> accept();
  // No program is left: takes the next one, or no other ever.
  std::optional<AwaitedProgram> accept_or_close();
  // Without a guardian nobody is bound.
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
  std::unique_ptr<StateFile> file_;  // none: at an end
  std::unique_ptr<Guardian> guardian_;
  Binder binder_;
  Identity self_;
  std::optional<AgentSocket> socket_;  // none: it serves one program
  std::set<pid_t> processes_;          // that had threads at the last look
  std::map<pid_t, int> numbers_;
  std::map<Binder::Outcome, int> outcomes_;
  machine::CpuSet claimed_;  // by others, when somebody last looked
  int moves_ = 0, refused_moves_ = 0;
  bool lost_guardian_ = false;
  std::string refusal_;      // of an agent that might have been shared
  std::string why_no_lock_;  // when it was last wanted in vain
};

}  // namespace huddle::threads
