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

// What the MPI underneath needs to keep its own messages moving.
constexpr std::int64_t between_progress_ns = 1 * ns_per_us;
// Where one such call takes long, because the MPI gives the core away in it or has much to look
// through, so many times as long passes before the next, in this wait or a later one.
constexpr std::int64_t progress_share = 8;
// A dead peer has to be noticed within a second; looking costs a system call.
constexpr std::int64_t between_checks_ns = 100 * ns_per_ms;
// A scheduler's time slice is some milliseconds: a core that is shared shows within one.
constexpr std::int64_t between_looks_ns = 1 * ns_per_ms;
// The longest that a rank may be away when its flag is raised.
constexpr std::int64_t longest_sleep_ns = 100 * ns_per_us;
// Yielding is given up after this many times what a wake-up costs: who waits that long waits for
// something that takes long, and a core is worth more to others than the delay of a wake-up is to
// this rank.
constexpr double wakes_before_sleep = 100;
// As often as this nobody else was there: the company has gone.
constexpr int alone_for_good = 1000;
// How much the last time of giving the core away counts for what the next may take: most find
// nobody, and the few that find a time slice have to be remembered among them.
constexpr double weight_of_last = 1.0 / 16;
// Pauses between two looks: as long as reading the clock takes, which is done besides.
constexpr int pauses_a_step = 2;

std::int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// How often the scheduler took the core away from this thread.
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
  if (settings_.crowded) return 0;
  if (!company_) return std::numeric_limits<double>::infinity();
  return others_ns_;
}

void Waiting::look_for_company() {
  if (settings_.own_processor) return;
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

// Another rank on this core spins before it gives the core back, as this one does: that is not its
// work, or each would wait the longer for the other's waiting.
void Waiting::learn_price(double ns) {
  if (!company_) return;
  others_ns_ += weight_of_last * (std::max(ns - spin_ns(), 0.0) - others_ns_);
}

// A yield to nobody takes a small part of what switching to another process and back does.
void Waiting::gave_core_away(double ns) {
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
    waiting_.look_for_company();
  }
  if (static_cast<double>(now_ns_ - start_ns_) >= waiting_.spin_ns()) way_ = Way::yield;
}

void Wait::yield() {
  const std::int64_t before_ns = now_ns_;
  sched_yield();
  now_ns_ = clock_ns();
  const auto away_ns = static_cast<double>(now_ns_ - before_ns);
  if (!std::exchange(has_yielded_, true)) waiting_.learn_price(away_ns);
  waiting_.gave_core_away(away_ns);
  const auto waited_ns = static_cast<double>(now_ns_ - start_ns_);
  if (waited_ns >= wakes_before_sleep * waiting_.wake_ns()) way_ = Way::sleep;
}

// Longer from time to time, so that a short wait is not answered by a long sleep.
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
