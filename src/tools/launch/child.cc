// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/child.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstring>

#include "common/error.h"
#include "common/exec_words.h"

namespace huddle::launch {
namespace {

// While one of these lives, signals wait to be taken, and those of the keyboard are the child's.
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
  // As the caller had them for us. A signal that he ignores stays ignored.
  void give_to(posix_spawnattr_t& attributes) const {
    sigset_t by_default;
    sigemptyset(&by_default);
    for (std::size_t i = 0; i < keyboard.size(); ++i) {
      if (actions_before_[i].sa_handler != SIG_IGN) sigaddset(&by_default, keyboard[i]);
    }
    ::posix_spawnattr_setsigmask(&attributes, &before_);
    ::posix_spawnattr_setsigdefault(&attributes, &by_default);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

 private:
  static constexpr std::array<int, 2> keyboard = {SIGINT, SIGQUIT};
  sigset_t waited_for_{};
  sigset_t before_{};
  std::array<struct sigaction, keyboard.size()> actions_before_{};
};

pid_t start(const std::string& program, std::vector<std::string>& words,
            std::vector<std::string>& environment, const Signals& signals) {
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  signals.give_to(attributes);
  pid_t child = -1;
  // posix_spawnp() gives a script that names no shell to one.
  const int error = ::posix_spawnp(&child, program.c_str(), nullptr, &attributes,
                                   pointers(words).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return child;
  throw FailureError(fmt::format("{} cannot be executed: {}", program, std::strerror(error)));
}

}  // namespace

Ended run_to_end(const std::string& program, std::vector<std::string> words,
                 std::vector<std::string> environment) {
  const Signals signals;
  const pid_t child = start(program, words, environment, signals);
  for (;;) {
    const int signal = signals.next();
    int status = 0;
    if (signal != SIGCHLD) {
      ::kill(child, signal);
    } else if (::waitpid(child, &status, WNOHANG) == child) {
      if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
      return {.status = WEXITSTATUS(status)};
    }
  }
}

}  // namespace huddle::launch
