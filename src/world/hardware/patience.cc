// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "world/hardware/patience.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include "memory/spin.h"

namespace huddle::world::hardware {
namespace {

constexpr std::int64_t ns_per_us = 1000;
constexpr std::int64_t ns_per_ms = 1000 * ns_per_us;

// What the MPI underneath needs to keep its own messages moving.
constexpr std::int64_t between_progress_ns = 1 * ns_per_us;
// A dead peer has to be noticed within a second; looking costs a system call for each peer.
constexpr std::int64_t between_checks_ns = 100 * ns_per_ms;
// A scheduler's time slice is some milliseconds: a core that is shared shows within one.
constexpr std::int64_t between_notices_ns = 1 * ns_per_ms;
// The longest that a rank may be away when its flag is raised.
constexpr std::int64_t longest_sleep_ns = 100 * ns_per_us;
// Yielding is given up after this many times what a wake-up costs: who waits that long waits for
// something that takes long, and a core is worth more to others than the delay of a wake-up is to
// this rank.
constexpr std::int64_t wakes_before_sleep = 100;
// Pauses between two readings of the clock, which costs about as much as they do.
constexpr int pauses_a_step = 8;

std::int64_t now_ns() {
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

Patience::Patience(const Waiting& waiting)
    : waiting_(waiting),
      // Where the awaited rank may need this very core, every look more keeps it waiting.
      way_(waiting.settings.crowded ? Way::yield : Way::spin),
      start_ns_(now_ns()),
      next_progress_ns_(start_ns_ + between_progress_ns),
      next_check_ns_(start_ns_ + between_checks_ns),
      next_notice_ns_(start_ns_ + between_notices_ns),
      switches_(-1),
      sleep_ns_(static_cast<std::int64_t>(waiting.settings.wake_ns)) {}

void Patience::spend() {
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
}

void Patience::spin() {
  for (int i = 0; i < pauses_a_step; ++i) memory::spin_pause();
  const std::int64_t now = now_ns();
  call_others(now);
  notice_company(now);
}

void Patience::yield() {
  sched_yield();
  const std::int64_t now = now_ns();
  call_others(now);
  const double patience_ns = wakes_before_sleep * waiting_.settings.wake_ns;
  if (static_cast<double>(now - start_ns_) >= patience_ns) way_ = Way::sleep;
}

// Longer from time to time, so that a short wait is not answered by a long sleep.
void Patience::sleep() {
  const timespec pause{0, sleep_ns_};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
  sleep_ns_ = std::min(2 * sleep_ns_, longest_sleep_ns);
  call_others(now_ns());
}

void Patience::call_others(std::int64_t now_ns) {
  if (now_ns >= next_progress_ns_) {
    next_progress_ns_ = now_ns + between_progress_ns;
    if (waiting_.progress) waiting_.progress();
  }
  if (now_ns >= next_check_ns_) {
    next_check_ns_ = now_ns + between_checks_ns;
    if (waiting_.check_peers) waiting_.check_peers();
  }
}

// Whatever was thought when the team was made: who loses the core while spinning shares it.
void Patience::notice_company(std::int64_t now_ns) {
  if (now_ns < next_notice_ns_) return;
  next_notice_ns_ = now_ns + between_notices_ns;
  const std::int64_t switches = involuntary_switches();
  if (switches_ >= 0 && switches > switches_) way_ = Way::yield;
  switches_ = switches;
}

}  // namespace huddle::world::hardware
