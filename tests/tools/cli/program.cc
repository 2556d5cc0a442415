// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "program.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "common/other_processes.h"

namespace huddle::cli {
namespace {

constexpr const char* binary = HUDDLE_PROGRAM;

// Starts the program with this file as input and these two descriptors as output.
pid_t start(std::vector<std::string> arguments, std::vector<std::string> environment,
            const std::string& input, int out, int err) {
  arguments.insert(arguments.begin(), "huddle");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, binary, &actions, nullptr, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(std::string("cannot start ") + binary);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Reads until the other side is closed. A terminal then reports an error, a pipe the end of file.
std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t got = 0; (got = ::read(fd, block.data(), block.size())) > 0;) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

Ran Program::finish(int out, const std::vector<std::string>& arguments) const {
  const char* const search_path = std::getenv("PATH");
  std::vector<std::string> environment = environment_;
  environment.push_back("HOME=" + home_.folder().string());
  environment.push_back(std::string("PATH=") + (search_path == nullptr ? "" : search_path));
  // Passes on the list of leaks in other libraries that the sanitizer ignores.
  if (const char* const options = std::getenv("LSAN_OPTIONS")) {
    environment.push_back(std::string("LSAN_OPTIONS=") + options);
  }
  const std::string err_path = home_.path("stderr");
  const int err = ::open(err_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const pid_t child = start(arguments, environment, input_, out, err);
  ::close(out);
  ::close(err);
  Ran ran;
  ran.status = wait_for(child);
  ran.err = contents(err_path);
  return ran;
}

Ran Program::run_into(const std::string& path, const std::vector<std::string>& arguments) const {
  return finish(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), arguments);
}

Ran Program::run(const std::vector<std::string>& arguments) const {
  const std::string out_path = home_.path("stdout");
  Ran ran = run_into(out_path, arguments);
  ran.out = contents(out_path);
  return ran;
}

Ran Program::run_in_terminal(int columns, const std::vector<std::string>& arguments) const {
  int master = -1;
  int slave = -1;
  winsize size{};
  size.ws_row = 25;
  size.ws_col = static_cast<unsigned short>(columns);
  if (::openpty(&master, &slave, nullptr, nullptr, &size) != 0) {
    throw std::runtime_error("no terminal to be had");
  }
  ::fcntl(master, F_SETFD, FD_CLOEXEC);
  // A terminal buffers only a few KiB, so another process reads while the program runs.
  const std::string out_path = home_.path("stdout");
  const pid_t reader = ::fork();
  if (reader == 0) {
    ::close(slave);
    std::ofstream(out_path, std::ios::binary) << read_all(master);
    ::_exit(0);
  }
  ::close(master);
  Ran ran = finish(slave, arguments);
  wait_for(reader);
  ran.out = contents(out_path);
  return ran;
}

Ran Program::run_into_closed_pipe(const std::vector<std::string>& arguments) const {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe to be had");
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Ran ran = finish(ends[1], arguments);
  std::signal(SIGPIPE, before);
  return ran;
}

}  // namespace huddle::cli
