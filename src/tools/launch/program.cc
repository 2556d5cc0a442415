// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/launch/program.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "common/error.h"
#include "common/start_program.h"

namespace huddle::launch {
namespace {

namespace fs = std::filesystem;

// The kernel's limit on the symbolic links in a path.
constexpr int most_links = 40;

bool can_start(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

bool holds_slash(std::string_view word) { return word.find('/') != std::string_view::npos; }

}  // namespace

std::optional<std::string> find_program(const std::string& word, std::string_view search_path) {
  if (word.empty()) return std::nullopt;
  if (holds_slash(word)) return can_start(word) ? std::optional(word) : std::nullopt;
  for (std::size_t start = 0; start <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', start), search_path.size());
    const std::string_view folder = search_path.substr(start, end - start);
    const std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, word);
    if (can_start(path)) return path;
    start = end + 1;
  }
  return std::nullopt;
}

std::string why_not_found(const std::string& word) {
  std::error_code ignored;
  const fs::file_status status = fs::status(word, ignored);
  if (word.empty()) return "the command is empty; is a variable unset?";
  if (!holds_slash(word)) {
    return fmt::format("'{}' is not in PATH; {}", word,
                       fs::is_regular_file(status)
                           ? fmt::format("use ./{} for the file in this folder", word)
                           : "check its name, or load its module");
  }
  if (fs::is_directory(status)) return fmt::format("{} is a directory, not a program", word);
  if (fs::exists(status)) {
    return fmt::format("{0} is not executable; if it is a program: chmod +x {0}", word);
  }
  return fmt::format("{} does not exist; check the path", word);
}

std::vector<std::string> along_links(const std::string& path) {
  std::vector<std::string> paths = {path};
  std::error_code error;
  for (int i = 0; i < most_links; ++i) {
    const fs::path target = fs::read_symlink(paths.back(), error);
    if (error) break;
    paths.push_back((fs::path(paths.back()).parent_path() / target).string());
  }
  return paths;
}

namespace {

bool is_plain(char c) {
  constexpr std::string_view signs = "_-./,:=+@%";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         signs.find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

namespace {

// While an object exists, SIGCHLD, SIGTERM and SIGHUP are blocked for sigwait, and keyboard signals
// are left to the child.
class Signals {
 public:
  Signals() {
    sigemptyset(&waited_for_);
    for (const int signal : {SIGCHLD, SIGTERM, SIGHUP}) sigaddset(&waited_for_, signal);
    ::pthread_sigmask(SIG_BLOCK, &waited_for_, &before_);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < keyboard.size(); ++i) {
      ::sigaction(keyboard[i], &ignore, &actions_before_[i]);
    }
  }
  ~Signals() {
    for (std::size_t i = 0; i < keyboard.size(); ++i) {
      ::sigaction(keyboard[i], &actions_before_[i], nullptr);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int next() const {
    int signal = 0;
    ::sigwait(&waited_for_, &signal);
    return signal;
  }
  // Restores the caller's dispositions for the child. Signals that the caller ignores stay ignored.
  void give_to(ProgramStart& start) const {
    for (std::size_t i = 0; i < keyboard.size(); ++i) {
      if (actions_before_[i].sa_handler != SIG_IGN) start.default_signals.push_back(keyboard[i]);
    }
    if (child_signal_.was_ignored()) start.ignored_signals.push_back(SIGCHLD);
    start.blocked_signals = before_;
  }

 private:
  static constexpr std::array<int, 2> keyboard = {SIGINT, SIGQUIT};
  DefaultChildSignal child_signal_;
  sigset_t waited_for_{};
  sigset_t before_{};
  std::array<struct sigaction, keyboard.size()> actions_before_{};
};

// The end of a child whose status is unknown.
constexpr Ended unknown_end = {.status = EXIT_FAILURE};

}  // namespace

Ended run_to_end(const std::string& program, std::vector<std::string> words,
                 std::vector<std::string> environment) {
  const Signals signals;
  ProgramStart start{
      .program = program, .words = std::move(words), .environment = std::move(environment)};
  signals.give_to(start);
  const pid_t child = start_program(std::move(start));
  if (child < 0) {
    throw FailureError(fmt::format("cannot execute {}: {}", program, std::strerror(errno)));
  }
  for (;;) {
    const int signal = signals.next();
    if (signal != SIGCHLD) {
      ::kill(child, signal);
      continue;
    }
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno == ECHILD) return unknown_end;
    if (ended != child) continue;
    if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
    return {.status = WEXITSTATUS(status)};
  }
}

}  // namespace huddle::launch
