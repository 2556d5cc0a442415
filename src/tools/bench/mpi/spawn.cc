// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/spawn.h"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "common/exec_words.h"

namespace huddle::bench {

pid_t spawn(Spawned spawned, int input, int output) {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const auto words = pointers(spawned.words);
  const auto environment = pointers(spawned.environment);
  pid_t child = -1;
  int error = posix_spawn(&child, spawned.program.c_str(), &actions, &attributes, words.data(),
                          environment.data());
  if (error == ENOEXEC) {
    std::string shell = "/bin/sh";
    std::vector<char*> with_shell = {shell.data(), spawned.program.data()};
    with_shell.insert(with_shell.end(), words.begin() + 1, words.end());
    error = posix_spawn(&child, shell.c_str(), &actions, &attributes, with_shell.data(),
                        environment.data());
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return child;
  throw FailureError(fmt::format("cannot start {}: {}", spawned.program, std::strerror(error)));
}

}  // namespace huddle::bench
