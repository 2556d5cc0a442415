// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/engine/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "runtime/team/socket_bootstrap.h"

namespace huddle::bench {

std::vector<int> Binding::pus_of(int rank) const {
  if (oversubscribed()) return pus;
  return {pus[static_cast<std::size_t>(rank)]};
}

std::vector<int> Binding::counted_for() const {
  std::vector<int> locality;
  for (int rank = 0; rank < ranks; ++rank) {
    locality.push_back(pus[static_cast<std::size_t>(rank) % pus.size()]);
  }
  return locality;
}

std::string text(const Binding& binding) {
  const int used = std::min(binding.ranks, static_cast<int>(binding.pus.size()));
  if (binding.oversubscribed()) {
    return fmt::format("{} ranks on {} hardware thread{}", binding.ranks, used,
                       used == 1 ? "" : "s");
  }
  const std::vector<int> pus(binding.pus.begin(), binding.pus.begin() + used);
  return fmt::format("{} ranks, one on each of the hardware threads {}", used,
                     fmt::join(pus, ", "));
}

// Sizes the CPU set by the largest OS index, because a cpu_set_t ends at 1,024 hardware threads.
void run_on(const std::vector<int>& pus) {
  const auto bits = static_cast<std::size_t>(*std::max_element(pus.begin(), pus.end())) + 1;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
      CPU_ALLOC(bits), [](cpu_set_t* allocated) { CPU_FREE(allocated); });
  const std::size_t bytes = CPU_ALLOC_SIZE(bits);
  CPU_ZERO_S(bytes, set.get());
  for (const int pu : pus) CPU_SET_S(static_cast<std::size_t>(pu), bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) == 0) return;
  throw FailureError(fmt::format("cannot run on hardware threads {}: {}", fmt::join(pus, ", "),
                                 std::strerror(errno)));
}

SharedPages::SharedPages(std::size_t bytes) : bytes_(bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw FailureError(fmt::format("cannot allocate {} of shared memory: {}",
                                   size_text(static_cast<double>(bytes)), std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(mapped);
}

SharedPages::~SharedPages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

SharedPages::SharedPages(SharedPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

SharedPages& SharedPages::operator=(SharedPages&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

namespace {

using Work = std::function<void(const team::Bootstrap&)>;

constexpr pid_t has_ended = -1;

// Sends the reason of a failure to the parent. A pipe transfers a message of this size atomically.
void complain(int pipe_end, int rank, const char* why) {
  const std::string text = fmt::format("rank {}: {}", rank, why);
  if (write(pipe_end, text.data(), text.size()) < 0) std::perror("huddle: a rank");
}

// Runs a rank in the child process.
[[noreturn]] void run_all(pid_t parent, const Binding& binding, int rank, const Work& work,
                          team::ForkBootstrap& places, int pipe_end) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // The parent handles Ctrl-C and stops the ranks in an orderly way.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  int status = 0;
  try {
    run_on(binding.pus_of(rank));
    const team::Bootstrap bootstrap = places.join(rank);
    work(bootstrap);
  } catch (const std::exception& error) {
    complain(pipe_end, rank, error.what());
    status = 1;
  }
  _exit(status);
}

std::string death_of(std::size_t rank, int status) {
  if (WIFSIGNALED(status)) return fmt::format("rank {}: {}", rank, strsignal(WTERMSIG(status)));
  return fmt::format("rank {}: exit status {}", rank, WEXITSTATUS(status));
}

}  // namespace

RankProcesses::RankProcesses(const Binding& binding, const Work& work) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  complaints_ = FileDescriptor(ends[0]);
  const FileDescriptor write_end(ends[1]);
  team::ForkBootstrap places(binding.ranks);
  const pid_t parent = getpid();
  std::fflush(nullptr);  // otherwise each child would print the buffered output again
  for (int rank = 0; rank < binding.ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) run_all(parent, binding, rank, work, places, write_end.number());
    if (child < 0) {
      const std::string why = std::strerror(errno);
      kill_all();
      throw FailureError(fmt::format("cannot start a process for rank {}: {}", rank, why));
    }
    children_.push_back(child);
  }
}

RankProcesses::~RankProcesses() { kill_all(); }

void RankProcesses::kill_all() {
  for (pid_t& child : children_) {
    if (child == has_ended) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    child = has_ended;
  }
}

void RankProcesses::reap(int options) {
  for (std::size_t rank = 0; rank < children_.size(); ++rank) {
    int status = 0;
    if (children_[rank] == has_ended || waitpid(children_[rank], &status, options) == 0) continue;
    children_[rank] = has_ended;
    if (status != 0) death_ = death_of(rank, status);
  }
}

bool RankProcesses::read_complaints() {
  std::array<char, 1024> block{};
  const ssize_t got = read(complaints_.number(), block.data(), block.size());
  if (got > 0) complaint_.assign(block.data(), static_cast<std::size_t>(got));
  return got != 0;
}

bool RankProcesses::wait(std::chrono::milliseconds limit) {
  // Reap before reading the pipe: the message of a rank that has ended by now is in the pipe.
  reap(WNOHANG);
  const auto timeout = death_.empty() ? limit : std::chrono::milliseconds(0);
  pollfd watched{complaints_.number(), POLLIN, 0};
  const bool heard = poll(&watched, 1, static_cast<int>(timeout.count())) > 0;
  const bool all_gone = heard && !read_complaints();
  if (all_gone) reap(0);
  // The remaining ranks would wait forever for the failed one.
  const std::string& rank_error = complaint_.empty() ? death_ : complaint_;
  if (rank_error.empty()) return all_gone;
  kill_all();
  throw FailureError(rank_error);
}

}  // namespace huddle::bench
