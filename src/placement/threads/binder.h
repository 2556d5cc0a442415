// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Binds threads, each within what it was allowed, and knows what each had. A thread that somebody
// else has bound, before or meanwhile, is left alone from then on.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/kept_state.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/thread_masks.h"

namespace huddle::threads {

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

}  // namespace huddle::threads
