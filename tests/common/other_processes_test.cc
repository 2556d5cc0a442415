// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/other_processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <ostream>
#include <string>
#include <thread>

#include "common/file.h"
#include "old_kernel.h"

namespace huddle {
namespace {

FileDescriptor file_of(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

FileDescriptor pidfd_of(pid_t process) {
  return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
}

// A child that runs until it is killed.
class LivingChild {
 public:
  LivingChild() : process_(fork()) {
    if (process_ != 0) return;
    while (true) pause();
  }
  ~LivingChild() {
    kill_only();
    reap();
  }
  LivingChild(const LivingChild&) = delete;
  LivingChild& operator=(const LivingChild&) = delete;

  pid_t process() const { return process_; }
  // Returns when the child is a zombie.
  void kill_only() const {
    if (!is_there_) return;
    kill(process_, SIGKILL);
    siginfo_t how{};
    waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOWAIT);
  }
  void reap() {
    if (is_there_) waitpid(process_, nullptr, 0);
    is_there_ = false;
  }

 private:
  pid_t process_;
  bool is_there_ = true;
};

struct Opening {
  std::string name;
  FileDescriptor (*open)(pid_t process);

  friend std::ostream& operator<<(std::ostream& out, const Opening& opening) {
    return out << opening.name;
  }
};

class WatchedProcess : public testing::TestWithParam<Opening> {};

TEST_P(WatchedProcess, IsDeadFromItsEndAndLosesItsNumberWhenReaped) {
  LivingChild child;
  const FileDescriptor watch = GetParam().open(child.process());
  if (!watch.is_open() && errno == ENOSYS) GTEST_SKIP() << "the kernel has no pidfds";
  ASSERT_TRUE(watch.is_open());
  EXPECT_FALSE(is_dead(watch.number()));
  EXPECT_FALSE(has_lost_number(watch.number()));
  child.kill_only();
  EXPECT_TRUE(is_dead(watch.number()));
  EXPECT_FALSE(has_lost_number(watch.number()));
  child.reap();
  EXPECT_TRUE(is_dead(watch.number()));
  EXPECT_TRUE(has_lost_number(watch.number()));
}

// Its first thread is then a zombie, while the others run.
TEST_P(WatchedProcess, LivesWithoutItsFirstThread) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::thread([out = ends[1]] {
      while (process_status(read_text("/proc/self/stat"))->state != 'Z') {
      }
      [[maybe_unused]] const ssize_t written = write(out, "", 1);
      while (true) pause();
    }).detach();
    syscall(SYS_exit, 0);  // ends this thread only
  }
  close(ends[1]);
  char ready = 0;
  EXPECT_EQ(read(ends[0], &ready, 1), 1);
  const FileDescriptor watch = GetParam().open(child);
  EXPECT_FALSE(is_dead(watch.number()));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_dead(watch.number()));
  close(ends[0]);
}

INSTANTIATE_TEST_SUITE_P(By, WatchedProcess,
                         testing::Values(Opening{"Pidfd", pidfd_of}, Opening{"File", file_of},
                                         Opening{"Default", open_process}),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(OpenProcess, FailsWithEsrchIfThereIsNoSuchProcess) {
  LivingChild child;
  child.kill_only();
  child.reap();
  EXPECT_FALSE(open_process(child.process()).is_open());
  EXPECT_EQ(errno, ESRCH);
}

constexpr int not_permitted = 77;

// Runs `check` in a child on which the filter is imposed. Returns its result, or `not_permitted`.
template <class Check>
int on_old_kernel(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(emulate_old_kernel() != 0 ? not_permitted : check());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Returns the first file that is mistaken for a process.
std::string mistaken_file() {
  for (const char* const path : {"/", "/proc", "/proc/self/fd", "/proc/self/maps", "/dev/null"}) {
    const FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
    if (is_dead(file.number()) || has_lost_number(file.number())) return path;
  }
  return {};
}

TEST(IsDead, IsFalseForFilesOfTheApplication) {
  EXPECT_EQ(mistaken_file(), "");
  const int result = on_old_kernel([] { return mistaken_file().empty() ? 0 : 1; });
  if (result == not_permitted) GTEST_SKIP() << "filters of system calls are not permitted here";
  EXPECT_EQ(result, 0);
}

TEST(OpenProcess, NeedsNoPidfds) {
  LivingChild child;
  LivingChild reaped;
  reaped.kill_only();
  reaped.reap();
  const int result = on_old_kernel([&] {
    if (open_process(reaped.process()).is_open() || errno != ESRCH) return 1;
    const FileDescriptor watch = open_process(child.process());
    if (!watch.is_open()) return 2;
    if (is_dead(watch.number()) || has_lost_number(watch.number())) return 3;
    kill(child.process(), SIGKILL);
    constexpr std::chrono::seconds patience{20};
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_dead(watch.number())) {
      if (std::chrono::steady_clock::now() > end) return 4;
    }
    return has_lost_number(watch.number()) ? 5 : 0;
  });
  if (result == not_permitted) GTEST_SKIP() << "filters of system calls are not permitted here";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace huddle
