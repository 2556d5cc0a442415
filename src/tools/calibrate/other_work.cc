// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/other_work.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "tools/calibrate/verdict.h"

namespace huddle::calibrate {
namespace {

// The kernel counts in ticks of 10 ms: of so many, one by chance is below what a measurement bears.
constexpr std::chrono::milliseconds moment{300};

// Of one processor since the machine has started.
struct Ticks {
  long long busy = 0;
  long long idle = 0;
};

// "cpu3 user nice system idle iowait irq softirq steal ...", as proc(5) has it.
Ticks ticks_of(const std::vector<std::string>& words) {
  constexpr std::size_t first = 1;
  constexpr std::size_t idle = 4;
  constexpr std::size_t iowait = 5;
  constexpr std::size_t steal = 8;  // what follows is part of `user` and `nice`
  Ticks ticks;
  for (std::size_t i = first; i < words.size() && i <= steal; ++i) {
    (i == idle || i == iowait ? ticks.idle : ticks.busy) += whole_number(words[i]).value_or(0);
  }
  return ticks;
}

std::map<std::string, Ticks> ticks_by_name(const System& system) {
  std::map<std::string, Ticks> all;
  for (const std::string& line : system.lines("/proc/stat")) {
    const std::vector<std::string> parts = words(line);
    if (!parts.empty() && parts.front().starts_with("cpu")) all[parts.front()] = ticks_of(parts);
  }
  return all;
}

}  // namespace

void pass_a_moment() { std::this_thread::sleep_for(moment); }

std::vector<OtherWork> other_work(const System& system, std::span<const int> pus,
                                  const std::function<void()>& wait) {
  auto before = ticks_by_name(system);
  wait();
  auto after = ticks_by_name(system);
  std::vector<OtherWork> found;
  for (const int pu : pus) {
    const std::string name = fmt::format("cpu{}", pu);
    const auto busy = static_cast<double>(after[name].busy - before[name].busy);
    const auto idle = static_cast<double>(after[name].idle - before[name].idle);
    if (busy > Tolerance{}.taken_away * (busy + idle)) found.push_back({pu, busy / (busy + idle)});
  }
  return found;
}

}  // namespace huddle::calibrate
