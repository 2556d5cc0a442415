// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Processes that compete: forked, kept where they belong, waited for. They end with their parent.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "runtime/team/bootstrap.h"
#include "tools/bench/engine/binding.h"

namespace huddle::bench {

class RankProcesses {
 public:
  // Forks; each calls `work` once it is where it belongs. Throws FailureError. pre: the caller has
  // no other threads.
  RankProcesses(const Binding& binding, const std::function<void(const team::Bootstrap&)>& work);
  // Kills whoever still runs.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // True when all have ended, false when the time is over before. Throws FailureError where one has
  // failed, or been killed: what it said, or how it died. Nobody runs any more then.
  bool wait(std::chrono::milliseconds limit);

 private:
  void kill_all();
  void reap(int options);
  bool read_complaints();  // false once nobody is left to complain

  std::vector<pid_t> children_;  // by rank; has_ended where it has been waited for
  FileDescriptor complaints_;    // read end of a pipe whose other end the ranks have
  std::string complaint_;        // of a rank that failed
  std::string death_;            // of one that may have had no time to complain
};

}  // namespace huddle::bench
