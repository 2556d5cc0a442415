// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/look.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "memory/descriptor.h"
#include "mpi/beside.h"

namespace huddle::mpi {
namespace {

// Without what was preloaded into this process: that is for programs that use MPI.
std::vector<char*> own_environment() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  return variables;
}

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// Everything that it writes, to either of its outputs, until it ends.
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

// The program may have a handler that takes every child's end: then what was read has to do.
bool ended_well(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return true;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string look_at_machine(const std::string& machine_file) {
  std::string program = path_beside("huddle-look");
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(fmt::format("no pipe to {}: {}", program, std::strerror(errno)));
  }
  const memory::Descriptor output(ends[0]);
  memory::Descriptor input(ends[1]);
  SpawnActions actions;
  actions.duplicate(input.number(), STDOUT_FILENO);
  actions.duplicate(input.number(), STDERR_FILENO);
  std::string file = machine_file;
  const std::array<char*, 3> words = {program.data(), file.empty() ? nullptr : file.data(),
                                      nullptr};
  pid_t child = 0;
  const int trouble = posix_spawn(&child, program.c_str(), actions.get(), nullptr, words.data(),
                                  own_environment().data());
  if (trouble != 0) {
    throw FailureError(fmt::format("cannot run {}: {}", program, std::strerror(trouble)));
  }
  input = memory::Descriptor();
  std::string text = read_all(output.number());
  if (!ended_well(child)) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    throw FailureError(text);
  }
  return text;
}

}  // namespace huddle::mpi
