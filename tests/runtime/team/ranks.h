// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks for tests: processes, or threads so that ThreadSanitizer sees both sides. Each gets a
// bootstrap, runs one function, and ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "runtime/team/bootstrap.h"
#include "runtime/team/socket_bootstrap.h"

namespace huddle::team {

// The code of a rank. An exception or a failed gtest expectation makes the rank fail.
using RankFunction = std::function<void(const Bootstrap&)>;

// The outcome of a rank.
struct RankEnd {
  enum class How { fine, failed, killed, timed_out };
  How how = How::fine;
  int signal = 0;                      // if killed
  std::chrono::milliseconds after{0};  // since the start
  bool operator==(How other) const { return how == other; }
};
std::ostream& operator<<(std::ostream& out, RankEnd::How how);
std::ostream& operator<<(std::ostream& out, const RankEnd& end);

// Ranks in forked processes. The parent is not a rank.
class RankProcesses {
 public:
  RankProcesses(int ranks, const RankFunction& function);
  // Kills all ranks that still run.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  pid_t process(int rank) const { return children_[static_cast<std::size_t>(rank)].pid; }
  void kill(int rank) const;  // with SIGKILL; does nothing if it has been waited for
  // Waits for all ranks. Kills those that still run after `limit`; they have timed out.
  std::vector<RankEnd> wait(std::chrono::milliseconds limit);

 private:
  struct Child {
    pid_t pid = -1;
    FileDescriptor alive;  // a pipe that is closed when the process ends
    RankEnd end;
  };

  void start(int rank, ForkBootstrap& group, const RankFunction& function);
  void reap(Child& child) const;

  std::chrono::steady_clock::time_point begin_;
  std::vector<Child> children_;
};

inline constexpr std::chrono::seconds rank_limit{30};

// Forks ranks, runs the function, waits, and returns the outcome of each rank.
std::vector<RankEnd> run_ranks(int ranks, const RankFunction& function,
                               std::chrono::milliseconds limit = rank_limit);

// The same with threads. They cannot be killed, so a rank that hangs blocks the test.
std::vector<RankEnd> run_thread_ranks(int ranks, const RankFunction& function);

}  // namespace huddle::team
