// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/context/waiting.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/memory/cpu.h"

namespace huddle::context {
namespace {

constexpr std::int64_t ns_per_us = 1000;
constexpr std::int64_t ns_per_ms = 1000 * ns_per_us;

// Interval at which a waiting rank lets the underlying MPI progress its messages.
constexpr std::int64_t between_progress_ns = 1 * ns_per_us;
// If a progress call takes long, because the MPI yields the core in it or has much to poll, the
// next one follows only after this many times its duration, in this wait or a later one.
constexpr std::int64_t progress_share = 8;
// Interval at which a waiting rank checks its peers. A dead peer has to be detected within a
// second; each check costs a system call.
constexpr std::int64_t between_checks_ns = 100 * ns_per_ms;
// Interval at which a spinning rank checks for competing threads. Scheduler time slices last some
// milliseconds: a shared core is detected within one of them.
constexpr std::int64_t between_looks_ns = 1 * ns_per_ms;
// Maximum duration of a sleep, and thus of the delay after a flag has been set.
constexpr std::int64_t longest_sleep_ns = 100 * ns_per_us;
// A wait begins to sleep instead of yielding once it has lasted this many times the cost of a
// wake-up. The awaited event is slow then, and leaving the core to others matters more than the
// delay by the wake-up.
constexpr double wakes_before_sleep = 100;
// After this many consecutive yields that found no other thread, the core counts as unshared.
constexpr int alone_for_good = 1000;
// Weight of the latest yield in the moving average of yield times. Most yields find no other
// thread; the few that cost a time slice must not be forgotten between them.
constexpr double weight_of_last = 1.0 / 16;
// Number of pauses per step. They take about as long as the clock_gettime() call of the step.
constexpr int pauses_a_step = 2;

std::int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Returns the number of involuntary context switches of this thread.
std::int64_t involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

Waiting::Waiting(const WaitingSettings& settings, ProgressCallback progress, PeerCheck check_peers,
                 PeerGone is_gone)
    : settings_(settings),
      progress_(std::move(progress)),
      check_peers_(std::move(check_peers)),
      is_gone_(std::move(is_gone)) {}

double Waiting::spin_ns() const {
  if (settings_.oversubscribed) return 0;
  if (!company_) return std::numeric_limits<double>::infinity();
  return others_ns_;
}

void Waiting::detect_competition() {
  if (settings_.has_exclusive_core) return;
  const std::int64_t before = std::exchange(switches_, involuntary_switches());
  company_ = before >= 0 && switches_ > before;
}

std::int64_t Waiting::call_progress(std::int64_t now_ns) {
  if (progress_) progress_();
  if (own_) own_();
  const std::int64_t after_ns = clock_ns();
  const std::int64_t pause_ns =
      std::clamp(progress_share * (after_ns - now_ns), between_progress_ns, longest_sleep_ns);
  no_progress_before_ns_ = after_ns + pause_ns;
  return after_ns;
}

// Subtracts the time that another rank on this core spins before it yields, as this one does. That
// is not work, and counting it would make each rank wait ever longer for the other's spinning.
void Waiting::record_first_yield(double ns) {
  if (!company_) return;
  others_ns_ += weight_of_last * (std::max(ns - spin_ns(), 0.0) - others_ns_);
}

// A yield that finds no other thread is much faster than two context switches.
void Waiting::record_yield(double ns) {
  if (!company_) return;
  alone_in_a_row_ = ns < settings_.wake_ns ? alone_in_a_row_ + 1 : 0;
  if (alone_in_a_row_ < alone_for_good) return;
  alone_in_a_row_ = 0;
  company_ = false;
  switches_ = involuntary_switches();
}

Wait::Wait(Waiting& waiting)
    : waiting_(waiting),
      way_(waiting.spin_ns() > 0 ? Way::spin : Way::yield),
      start_ns_(clock_ns()),
      now_ns_(start_ns_),
      next_progress_ns_(std::max(start_ns_ + between_progress_ns, waiting.no_progress_before_ns())),
      next_check_ns_(start_ns_ + between_checks_ns),
      next_look_ns_(start_ns_ + between_looks_ns),
      sleep_ns_(static_cast<std::int64_t>(waiting.wake_ns())) {}

void Wait::spend() {
  switch (way_) {
    case Way::spin:
      spin();
      break;
    case Way::yield:
      yield();
      break;
    case Way::sleep:
      sleep();
      break;
  }
  call_others();
}

void Wait::spin() {
  for (int i = 0; i < pauses_a_step; ++i) memory::spin_pause();
  now_ns_ = clock_ns();
  if (now_ns_ >= next_look_ns_) {
    next_look_ns_ = now_ns_ + between_looks_ns;
    waiting_.detect_competition();
  }
  if (static_cast<double>(now_ns_ - start_ns_) >= waiting_.spin_ns()) way_ = Way::yield;
}

void Wait::yield() {
  const std::int64_t before_ns = now_ns_;
  sched_yield();
  now_ns_ = clock_ns();
  const auto away_ns = static_cast<double>(now_ns_ - before_ns);
  if (!std::exchange(has_yielded_, true)) waiting_.record_first_yield(away_ns);
  waiting_.record_yield(away_ns);
  const auto waited_ns = static_cast<double>(now_ns_ - start_ns_);
  if (waited_ns >= wakes_before_sleep * waiting_.wake_ns()) way_ = Way::sleep;
}

// The duration doubles each time, so that a rank sleeps at most about as long as it has waited.
void Wait::sleep() {
  const timespec pause{0, sleep_ns_};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  sleep_ns_ = std::min(2 * sleep_ns_, longest_sleep_ns);
  now_ns_ = clock_ns();
}

void Wait::call_others() {
  if (now_ns_ >= next_progress_ns_ && waiting_.has_progress()) {
    now_ns_ = waiting_.call_progress(now_ns_);
    next_progress_ns_ = waiting_.no_progress_before_ns();
  }
  if (now_ns_ >= next_check_ns_) {
    next_check_ns_ = now_ns_ + between_checks_ns;
    waiting_.check_peers();
  }
}

}  // namespace huddle::context
