// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/interrupt.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace huddle::cli {
namespace {

// A signal handler reaches nothing but globals.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> signal_came{false};
std::atomic<int> which_signal{0};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int signal) {
  which_signal.store(signal, std::memory_order_relaxed);
  signal_came.store(true, std::memory_order_relaxed);
}

}  // namespace

Interrupt::Interrupt() {
  signal_came.store(false);
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

const std::atomic<bool>& Interrupt::requested() const { return signal_came; }

std::string_view Interrupt::signal_name() const {
  return which_signal.load() == SIGTERM ? "SIGTERM" : "Ctrl-C";
}

void Interrupt::die() const {
  std::fflush(nullptr);
  const int signal = which_signal.load();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // not reached: the default of both signals is to end the program
}

}  // namespace huddle::cli
