// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/machine_discovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "mpi/libraries.h"

namespace huddle::mpi {
namespace {

// Returns the environment without LD_PRELOAD, because huddle-look must not load huddle's libraries.
std::vector<char*> own_environment() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

// Input of the child, which shares the memory of the suspended parent until execve().
struct Start {
  const char* program = nullptr;
  char* const* words = nullptr;
  char* const* variables = nullptr;
  int output = -1;
  sigset_t signals = {};  // the child's signal mask
};

// Resets signal handlers: those of the program must not run in the child, which shares its memory.
void forget_handlers() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
}

int start(void* of) {
  const Start& it = *static_cast<Start*>(of);
  forget_handlers();
  sigprocmask(SIG_SETMASK, &it.signals, nullptr);
  if (dup2(it.output, STDOUT_FILENO) >= 0 && dup2(it.output, STDERR_FILENO) >= 0) {
    execve(it.program, it.words, it.variables);
  }
  _exit(127);
}

// Starts the child as posix_spawn() does, but without an exit signal, so that the program's
// handlers and wait() do not see a child that ends before its execve(). Returns -1 on failure and
// sets errno.
pid_t start_unheard(Start it) {
  constexpr std::size_t stack_bytes = std::size_t{64} << 10;
  const auto stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &it.signals);
  const pid_t child = clone(start, stack.get() + stack_bytes, CLONE_VM | CLONE_VFORK, &it);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &it.signals, nullptr);
  errno = error;
  return child;
}

// Reads standard output and standard error of the child until it ends.
std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> chunk{};
  while (true) {
    const ssize_t bytes = read(descriptor, chunk.data(), chunk.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

MachineDiscovery::MachineDiscovery(const std::string& machine_file) {
  std::string program = path_beside("huddle-look");
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(
        fmt::format("cannot create a pipe to {}: {}", program, std::strerror(errno)));
  }
  output_ = FileDescriptor(ends[0]);
  const FileDescriptor input(ends[1]);
  std::string file = machine_file;
  const std::array<char*, 3> words = {program.data(), file.empty() ? nullptr : file.data(),
                                      nullptr};
  const std::vector<char*> variables = own_environment();
  child_ = start_unheard({program.c_str(), words.data(), variables.data(), input.number()});
  if (child_ < 0) {
    throw FailureError(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
  }
}

MachineDiscovery::~MachineDiscovery() {
  output_ = FileDescriptor();
  ended_well();
}

std::string MachineDiscovery::text() {
  std::string text = read_all(output_.number());
  if (!ended_well()) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.empty()) text = "cannot run " + path_beside("huddle-look");
    throw FailureError(text);
  }
  return text;
}

// Reaps the child and returns whether it succeeded. Later calls return true.
bool MachineDiscovery::ended_well() {
  if (child_ <= 0) return true;
  int status = 0;
  // Before its execve() the child has no exit signal, after it SIGCHLD; __WALL waits for both
  // kinds.
  while (waitpid(child_, &status, __WALL) < 0) {
    if (errno != EINTR) break;
  }
  child_ = 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace huddle::mpi
