// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A process ID that is reused after its process has died. The new process has memory at the same
// address: no write may reach it, and no read may return its data. Runs in a PID namespace of its
// own, where the test can choose process IDs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>

#include "common/file.h"
#include "runtime/single_copy/cma.h"

namespace huddle::single_copy {
namespace {

constexpr const char* not_here = "not to be had here: ";

[[noreturn]] void idle() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

pid_t start() {
  const pid_t process = fork();
  if (process == 0) idle();
  return process;
}

// Creates a process with this ID. Returns -1 if that is not possible.
pid_t start_as(pid_t number) {
  clone_args arguments{};
  arguments.exit_signal = SIGCHLD;
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&number);
  arguments.set_tid_size = 1;
  const auto process = static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (process == 0) idle();
  return process;
}

void end(pid_t process) {
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

// A word that every process has at the same address.
struct Word {
  std::uint64_t value;

  RemoteAddress told() const { return reinterpret_cast<std::uintptr_t>(this); }
  ErrorNumber write_to(CmaMemory& memory, std::uint64_t sent) const {
    return memory.write(told(), reinterpret_cast<const std::byte*>(&sent), sizeof sent);
  }
  ErrorNumber read_from(CmaMemory& memory, std::uint64_t& came) const {
    return memory.read(reinterpret_cast<std::byte*>(&came), told(), sizeof came);
  }
};

// Returns a description of the error, or an empty string.
std::string meet_a_stranger() {
  Word word{1};
  const pid_t number = start();
  const FileDescriptor watch(static_cast<int>(syscall(SYS_pidfd_open, number, 0)));
  if (!watch.is_open()) return std::string(not_here) + "pidfd_open";
  CmaMemory peer(number, watch.number());
  if (word.write_to(peer, 2) != fine) return std::string(not_here) + "process_vm_writev";
  end(number);
  if (start_as(number) != number) return std::string(not_here) + "a process of a chosen number";

  CmaMemory by_number(number, unwatched);
  std::uint64_t seen = 0;
  if (word.write_to(by_number, 3) != fine || word.read_from(by_number, seen) != fine || seen != 3) {
    return "the number is nobody's: nothing is tested";
  }
  if (word.write_to(peer, 4) != ESRCH) return "a write to the dead went well";
  if (word.read_from(by_number, seen) != fine || seen != 3) return "it arrived at a stranger";
  if (word.read_from(peer, seen) != ESRCH) return "what a stranger has was handed out";
  end(number);
  return {};
}

// Runs `run` in the first process of a new PID namespace, and returns its result.
std::string in_own_namespace(std::string (*run)()) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  const auto say = [&to](const std::string& text) {
    [[maybe_unused]] const ssize_t written = write(to.number(), text.data(), text.size());
    _exit(0);
  };
  const pid_t outside = fork();
  if (outside == 0) {
    // Root may create a PID namespace without a user namespace, which some systems do not permit to
    // others.
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 && unshare(CLONE_NEWPID) != 0) {
      say(std::string(not_here) + "a namespace of process ids");
    }
    const pid_t first = fork();
    if (first == 0) say(run());
    waitpid(first, nullptr, 0);
    _exit(0);
  }
  to = FileDescriptor();
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t came = 0; (came = read(from.number(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(came));
  }
  waitpid(outside, nullptr, 0);
  return text;
}

TEST(CmaNumber, ReusedProcessIdIsDetected) {
  const std::string wrong = in_own_namespace(meet_a_stranger);
  if (wrong.rfind(not_here, 0) == 0) GTEST_SKIP() << wrong;
  EXPECT_EQ(wrong, "");
}

}  // namespace
}  // namespace huddle::single_copy
