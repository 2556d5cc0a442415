// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks for tests: real processes, or threads where ThreadSanitizer is to see both sides. Each gets
// its place and a bootstrap, runs one function, and ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "runtime/team/bootstrap.h"
#include "runtime/team/socket_bootstrap.h"

namespace huddle::team {

// What a rank does. An exception, or an expectation of gtest that does not hold, is a failure.
using RankFunction = std::function<void(const Bootstrap&)>;

// How a rank ended.
struct RankEnd {
  enum class How { fine, failed, killed, timed_out };
  How how = How::fine;
  int signal = 0;                      // with killed
  std::chrono::milliseconds after{0};  // since the start
  bool operator==(How other) const { return how == other; }
};
std::ostream& operator<<(std::ostream& out, RankEnd::How how);
std::ostream& operator<<(std::ostream& out, const RankEnd& end);

// Forked ranks that are still running. The parent is no rank.
class RankProcesses {
 public:
  RankProcesses(int ranks, const RankFunction& function);
  // Kills whoever still runs.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  pid_t process(int rank) const { return children_[static_cast<std::size_t>(rank)].pid; }
  void kill(int rank) const;  // with SIGKILL; nothing where it has been waited for
  // Waits for all; whoever is not done by then is killed and has timed out.
  std::vector<RankEnd> wait(std::chrono::milliseconds limit);

 private:
  struct Child {
    pid_t pid = -1;
    FileDescriptor alive;  // ends with the process
    RankEnd end;
  };

  void start(int rank, ForkBootstrap& group, const RankFunction& function);
  void reap(Child& child) const;

  std::chrono::steady_clock::time_point begin_;
  std::vector<Child> children_;
};

inline constexpr std::chrono::seconds rank_limit{30};

// Forks, runs, waits. Everything is fine when all ends are.
std::vector<RankEnd> run_ranks(int ranks, const RankFunction& function,
                               std::chrono::milliseconds limit = rank_limit);

// The same with threads of this process. They cannot be killed: one that hangs hangs the test.
std::vector<RankEnd> run_thread_ranks(int ranks, const RankFunction& function);

}  // namespace huddle::team
