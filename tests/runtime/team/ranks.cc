// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "ranks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <ostream>
#include <stdexcept>
#include <thread>

namespace huddle::team {
namespace {

bool runs_well(const RankFunction& function, const Bootstrap& bootstrap) {
  try {
    function(bootstrap);
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", bootstrap.rank, error.what());
    return false;
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, RankEnd::How how) {
  constexpr std::array names = {"fine", "failed", "killed", "timed out"};
  return out << names[static_cast<std::size_t>(how)];
}

std::ostream& operator<<(std::ostream& out, const RankEnd& end) {
  return out << end.how << " after " << end.after.count() << " ms";
}

RankProcesses::RankProcesses(int ranks, const RankFunction& function)
    : begin_(std::chrono::steady_clock::now()), children_(static_cast<std::size_t>(ranks)) {
  ForkBootstrap group(ranks);
  for (int rank = 0; rank < ranks; ++rank) start(rank, group, function);
}

// Only the child has the write end of a pipe, so that the pipe is closed when the child ends.
void RankProcesses::start(int rank, ForkBootstrap& group, const RankFunction& function) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a rank");
  FileDescriptor read_end(ends[0]);
  const FileDescriptor write_end(ends[1]);
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork a rank");
  if (pid > 0) {
    Child& child = children_[static_cast<std::size_t>(rank)];
    child.pid = pid;
    child.alive = std::move(read_end);
    return;
  }
  children_.clear();  // closes the inherited pipes of lower ranks
  bool is_fine = false;
  {
    const Bootstrap bootstrap = group.join(rank);
    is_fine = runs_well(function, bootstrap) && !::testing::Test::HasFailure();
  }
  std::fflush(nullptr);
  _exit(is_fine ? 0 : 1);
}

RankProcesses::~RankProcesses() {
  for (Child& child : children_) {
    if (child.pid < 0) continue;
    ::kill(child.pid, SIGKILL);
    waitpid(child.pid, nullptr, 0);
  }
}

void RankProcesses::kill(int rank) const {
  if (process(rank) > 0) ::kill(process(rank), SIGKILL);
}

void RankProcesses::reap(Child& child) const {
  int status = 0;
  waitpid(child.pid, &status, 0);
  child.pid = -1;
  child.end.after = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin_);
  if (WIFSIGNALED(status)) {
    child.end.how = RankEnd::How::killed;
    child.end.signal = WTERMSIG(status);
  } else if (WEXITSTATUS(status) != 0) {
    child.end.how = RankEnd::How::failed;
  }
}

std::vector<RankEnd> RankProcesses::wait(std::chrono::milliseconds limit) {
  const Deadline deadline = Clock::now() + limit;
  std::vector<pollfd> watched;
  for (const Child& child : children_) watched.push_back({child.alive.number(), 0, 0});
  std::size_t running = children_.size();
  while (running > 0) {
    const int timeout_ms = poll_timeout_ms(deadline);
    if (timeout_ms == 0) break;
    if (poll(watched.data(), watched.size(), timeout_ms) <= 0) continue;
    for (std::size_t rank = 0; rank < watched.size(); ++rank) {
      if (watched[rank].fd < 0 || watched[rank].revents == 0) continue;
      reap(children_[rank]);
      watched[rank].fd = -1;
      --running;
    }
  }
  std::vector<RankEnd> ends;
  for (Child& child : children_) {
    if (child.pid > 0) {
      ::kill(child.pid, SIGKILL);
      reap(child);
      child.end.how = RankEnd::How::timed_out;
    }
    ends.push_back(child.end);
  }
  return ends;
}

std::vector<RankEnd> run_ranks(int ranks, const RankFunction& function,
                               std::chrono::milliseconds limit) {
  return RankProcesses(ranks, function).wait(limit);
}

std::vector<RankEnd> run_thread_ranks(int ranks, const RankFunction& function) {
  ForkBootstrap group(ranks);
  std::vector<RankEnd> ends(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back(
        [&function, &end = ends[static_cast<std::size_t>(rank)], bootstrap = group.take(rank)] {
          if (!runs_well(function, bootstrap)) end.how = RankEnd::How::failed;
        });
  }
  for (std::thread& thread : threads) thread.join();
  return ends;
}

}  // namespace huddle::team
