// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/child_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "common/calling_thread.h"
#include "common/error.h"
#include "common/file.h"
#include "common/other_processes.h"

namespace huddle::threads {
namespace {

// Closes the descriptors first to last, both included. Uses the number of the system call (Linux
// 5.9) because some C libraries have no function for it.
void close_from_to(unsigned first, unsigned last) {
  constexpr unsigned no_flags = 0;
  if (first > last || ::syscall(SYS_close_range, first, last, no_flags) == 0) return;
  const long most = ::sysconf(_SC_OPEN_MAX) - 1;
  for (long one = first; one <= std::min<long>(last, most); ++one) ::close(static_cast<int>(one));
}

}  // namespace

void detach(const std::string& name, std::vector<int> kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, name.c_str());
  (void)!::chdir("/");  // so that it does not prevent unmounting
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  std::sort(kept.begin(), kept.end());
  unsigned next = STDERR_FILENO + 1;
  for (const int one : kept) {
    if (one <= STDERR_FILENO) continue;
    close_from_to(next, static_cast<unsigned>(one) - 1);
    next = static_cast<unsigned>(one) + 1;
  }
  close_from_to(next, ~0U);
}

namespace {

std::array<FileDescriptor, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

GatedStart::GatedStart(const std::string& file, std::vector<std::string> words,
                       std::vector<std::string> environment, const sigset_t& mask)
    : file_(file) {
  auto [gate_out, gate_in] = make_pipe();
  auto [report_out, report_in] = make_pipe();
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(environment);
  process_ = ::fork();
  if (process_ < 0) {
    throw FailureError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (process_ == 0) {
    char go = 0;
    ::close(gate_in.number());
    if (::read(gate_out.number(), &go, 1) != 1) ::_exit(0);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execvpe(file_.c_str(), argv.data(), envp.data());
    const int why = errno;
    (void)!::write(report_in.number(), &why, sizeof why);
    ::_exit(127);
  }
  gate_ = std::move(gate_in);
  report_ = std::move(report_out);
}

GatedStart::~GatedStart() {
  if (!gate_.is_open()) return;
  gate_ = FileDescriptor();
  ::waitpid(process_, nullptr, 0);
}

void GatedStart::go() {
  (void)!::write(gate_.number(), "g", 1);
  gate_ = FileDescriptor();
  int why = 0;
  if (::read(report_.number(), &why, sizeof why) != sizeof why) return;
  ::waitpid(process_, nullptr, 0);
  throw FailureError(fmt::format("cannot execute {}: {}", file_, std::strerror(why)));
}

namespace {

FileDescriptor open_process(pid_t process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

// If the agent has removed the file, it has restored everything: all masks are recorded as
// restored, and kernel settings are left unchanged.
void restore_all(const StateFolder& folder, const StateFile& file) {
  SystemMasks masks;
  const SavedState kept = read_kept_state(text_in(file.descriptor()));
  restore(kept, masks);
  const StateFolder::Lock lock = folder.lock();
  if (file.is_there()) folder.restore_values(kept);
  file.remove();
}

// Requires: all signals are blocked.
[[noreturn]] void guard(const StateFolder& folder, const StateFile& file, int agent) {
  detach("huddle-guardian", {file.descriptor(), agent});
  pollfd wait{agent, POLLIN, 0};
  uninterrupted([&] { return ::poll(&wait, 1, -1); });
  try {
    restore_all(folder, file);
  } catch (const std::exception&) {
    ::_exit(1);  // the next huddle repairs it
  }
  ::_exit(0);
}

}  // namespace

Guardian::Guardian(const StateFolder& folder, const StateFile& file) {
  const FileDescriptor agent = open_process(::getpid());
  if (!agent.is_open()) {
    throw FailureError(
        fmt::format("the end of this process cannot be observed ({}), so no thread is bound",
                    std::strerror(errno)));
  }
  // Keeps signals to the process group from ending the child before it has its own session.
  const WithoutSignals meanwhile;
  const pid_t child = ::fork();
  if (child < 0) {
    throw FailureError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child == 0) guard(folder, file, agent.number());
  identity_ = {child, SystemMasks().born(child)};
  hold_ = open_process(child);
}

Guardian::~Guardian() {
  ::kill(identity_.number, SIGKILL);
  ::waitpid(identity_.number, nullptr, 0);
}

bool Guardian::is_alive() const { return !is_dead(hold_.number()); }

}  // namespace huddle::threads
