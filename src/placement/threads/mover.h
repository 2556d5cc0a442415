// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Carries out what the agent decides: binds threads of watched processes, writes down before what
// has to be given back, claims processors among all agents of this user, and has a guardian.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "placement/threads/agent_socket.h"
#include "placement/threads/binder.h"
#include "placement/threads/guardian.h"
#include "placement/threads/seats.h"
#include "placement/threads/state_folder.h"
#include "placement/threads/thread_list.h"

namespace huddle::threads {

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
