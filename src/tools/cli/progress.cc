// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/progress.h"

#include <fmt/format.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "common/text.h"

namespace huddle::cli {
namespace {

// More frequent drawing is not visible and costs time.
constexpr std::chrono::milliseconds between_draws{80};
// Estimates of the remaining time are not meaningful earlier.
constexpr double least_share_to_estimate = 0.03;
constexpr int bar_columns = 24;
constexpr int least_columns_for_bar = 60;

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string bar(double share, bool unicode) {
  const int full = static_cast<int>(share * bar_columns);
  std::string text;
  for (int i = 0; i < bar_columns; ++i) {
    text += i < full ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  }
  return text;
}

}  // namespace

std::string progress_line(double share, std::string_view name, double gone_seconds,
                          double left_seconds, int columns, bool unicode) {
  share = std::clamp(share, 0.0, 1.0);
  std::string line;
  if (columns >= least_columns_for_bar) line = bar(share, unicode) + " ";
  line += fmt::format("{:3.0f} %", 100 * share);
  std::string times = fmt::format("{:.0f} s", gone_seconds);
  if (left_seconds >= 0) times += fmt::format(", {:.0f} s left", left_seconds);
  // The name gets the remaining width; a line that wraps could not be overdrawn.
  const std::size_t used = display_width(line) + display_width(times) + 4;
  const std::size_t room = static_cast<std::size_t>(std::max(columns, 0));
  const std::size_t for_name = room > used ? room - used : 0;
  const std::string_view shown = name.substr(0, for_name);
  if (!shown.empty()) line += fmt::format("  {}", shown);
  if (room >= display_width(line) + display_width(times) + 2) line += "  " + times;
  return line;
}

Progress::Progress(const Console& console, std::size_t steps)
    : console_(console), steps_(steps), start_(Clock::now()), drawn_(start_ - between_draws) {}

Progress::~Progress() { finish(); }

void Progress::begin_step(std::string_view name) {
  ++step_;
  name_ = name;
  if (!console_.progress) console_.note(fmt::format("[{}/{}] {}", step_, steps_, name));
}

void Progress::update(double share) {
  if (!console_.progress) return;
  const auto now = Clock::now();
  if (now - drawn_ < between_draws) return;
  drawn_ = now;
  draw(share);
}

void Progress::draw(double share) {
  const double gone = seconds_between(start_, Clock::now());
  const double left = share < least_share_to_estimate ? -1 : gone * (1 - share) / share;
  const std::string line =
      progress_line(share, name_, gone, left, console_.columns - 1, console_.unicode);
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), console_.err);
  std::fflush(console_.err);
  visible_ = true;
}

void Progress::finish() {
  if (!visible_) return;
  std::fputs("\r\x1b[K", console_.err);
  std::fflush(console_.err);
  visible_ = false;
}

namespace {

// A signal handler can access only globals.
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
  switch (which_signal.load()) {
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "Ctrl-C";
  }
}

void Interrupt::die() const {
  std::fflush(nullptr);
  const int signal = which_signal.load();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // not reached: the default action of each signal ends the program
}

}  // namespace huddle::cli
