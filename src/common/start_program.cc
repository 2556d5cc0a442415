// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "common/start_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/file.h"
#include "common/other_processes.h"

namespace huddle {

DefaultChildSignal::DefaultChildSignal() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &by_default, &before_);
}

DefaultChildSignal::~DefaultChildSignal() { ::sigaction(SIGCHLD, &before_, nullptr); }

namespace {

void set_handlers(const std::vector<int>& signals, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : signals) ::sigaction(signal, &action, nullptr);
}

// dup2() keeps the flag close-on-exec if both numbers are equal, as they are if huddle was started
// with a closed standard stream.
bool become_stream(int descriptor, int stream) {
  return descriptor == stream ? ::fcntl(descriptor, F_SETFD, 0) == 0
                              : ::dup2(descriptor, stream) >= 0;
}

bool redirect(const ProgramStart& start) {
  if (start.input >= 0 && !become_stream(start.input, STDIN_FILENO)) return false;
  if (start.output < 0) return true;
  return become_stream(start.output, STDOUT_FILENO) && become_stream(start.output, STDERR_FILENO);
}

// Returns false if the parent has already ended.
bool end_with(pid_t parent) {
  return ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && ::getppid() == parent;
}

// Runs in the child, and returns only if it cannot execute the program. Other threads of the parent
// may have held locks, so it calls only functions that are safe in signal handlers.
void become(const ProgramStart& start, pid_t parent, char** words, char** environment) {
  if (start.leads_group) ::setpgid(0, 0);
  if (start.ends_with_parent && !end_with(parent)) return;
  if (!redirect(start)) return;
  set_handlers(start.ignored_signals, SIG_IGN);
  set_handlers(start.default_signals, SIG_DFL);
  if (start.blocked_signals) ::pthread_sigmask(SIG_SETMASK, &*start.blocked_signals, nullptr);
  ::execvpe(start.program.c_str(), words, environment);
}

// Returns the errno with which the child failed, or 0 once it executes the program.
int error_of_child(const FileDescriptor& from) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(from.number(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

pid_t start_program(ProgramStart start) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  std::vector<char*> words = pointers(start.words);
  std::vector<char*> environment = pointers(start.environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    become(start, parent, words.data(), environment.data());
    const int error = errno;
    const ssize_t written = ::write(to.number(), &error, sizeof error);
    ::_exit(written == static_cast<ssize_t>(sizeof error) ? 127 : 126);
  }
  // Both processes set the group, so that it exists for either of them.
  if (start.leads_group) ::setpgid(child, child);
  to = FileDescriptor();
  const int error = error_of_child(from);
  if (error == 0) return child;
  ::waitpid(child, nullptr, 0);
  errno = error;
  return -1;
}

}  // namespace huddle
