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
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "model/machine/stored_machine.h"
#include "mpi/libraries.h"

namespace huddle::mpi {
namespace {

// Returns the environment without LD_PRELOAD, because huddle-look must not load huddle's libraries.
std::vector<char*> own_environment() {
  std::vector<char*> variables;
  // clearenv() sets environ to null.
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

// Input of the processes that start huddle-look. They share the memory of the suspended parent.
struct Start {
  const char* program = nullptr;
  char* const* words = nullptr;
  char* const* variables = nullptr;
  int output = -1;
  sigset_t signals = {};           // the mask of huddle-look
  std::byte* stack_end = nullptr;  // of the process that becomes huddle-look
  int error = 0;
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

int execute(void* of) {
  Start& it = *static_cast<Start*>(of);
  sigprocmask(SIG_SETMASK, &it.signals, nullptr);
  if (dup2(it.output, STDOUT_FILENO) >= 0 && dup2(it.output, STDERR_FILENO) >= 0) {
    execve(it.program, it.words, it.variables);
  }
  it.error = errno;
  _exit(127);
}

int start(void* of) {
  Start& it = *static_cast<Start*>(of);
  forget_handlers();
  if (clone(execute, it.stack_end, CLONE_VM | CLONE_VFORK, &it) < 0) it.error = errno;
  _exit(0);
}

// Starts huddle-look such that it is no child of this process: the kernel gives every process an
// exit signal when it calls execve(), so that the program's wait() could reap huddle-look, and its
// handler of SIGCHLD would run. The process between them has no exit signal, and wait() ignores it.
// Returns 0 or an error number.
int start_unnoticed(Start it) {
  constexpr std::size_t stack_bytes = std::size_t{64} << 10;
  const auto stacks = std::make_unique_for_overwrite<std::byte[]>(2 * stack_bytes);
  it.stack_end = stacks.get() + 2 * stack_bytes;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &it.signals);
  const pid_t child = clone(start, stacks.get() + stack_bytes, CLONE_VM | CLONE_VFORK, &it);
  if (child < 0) it.error = errno;
  pthread_sigmask(SIG_SETMASK, &it.signals, nullptr);
  while (child > 0 && waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  return it.error;
}

// Reads standard output and standard error of huddle-look until it ends.
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

std::optional<std::string> stored_machine_text(const std::string& machine_file) {
  return machine::StoredMachine(machine_file).find();
}

MachineDiscovery::MachineDiscovery(const std::string& machine_file) {
  std::string program = path_beside("huddle-look");
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(
        fmt::format("cannot create a pipe to {}: {}", program, std::strerror(errno)));
  }
  output_ = FileDescriptor(ends[0]);
  // dup2() would leave a descriptor that has the number of standard output already as it is, to be
  // closed by execve().
  const FileDescriptor input = above_standard_streams(FileDescriptor(ends[1]));
  if (!input.is_open()) {
    throw FailureError(
        fmt::format("cannot create a pipe to {}: {}", program, std::strerror(errno)));
  }
  std::string file = machine_file;
  const std::array<char*, 3> words = {program.data(), file.empty() ? nullptr : file.data(),
                                      nullptr};
  const std::vector<char*> variables = own_environment();
  const int error =
      start_unnoticed({program.c_str(), words.data(), variables.data(), input.number()});
  if (error != 0) {
    throw FailureError(fmt::format("cannot run {}: {}", program, std::strerror(error)));
  }
}

std::string MachineDiscovery::text() {
  std::string text = read_all(output_.number());
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  const std::size_t header = static_cast<std::size_t>(end - text.data()) + 1;
  if (error == std::errc() && header <= text.size() && text.size() - header == bytes) {
    return text.substr(header);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) text = "cannot run " + path_beside("huddle-look");
  throw FailureError(text);
}

}  // namespace huddle::mpi
