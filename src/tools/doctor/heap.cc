// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/heap.h"

#include <fmt/format.h>

#include "model/machine/heap_cost.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {

Finding judge_heap(const machine::Machine& machine, const System& system) {
  Finding finding{.id = "heap", .group = "Machine model", .what = "Shared heap"};
  const auto cost = machine::heap_cost(machine);
  if (!cost) {
    finding.state = State::limited;
    finding.found = "nobody has measured what arrays in it cost";
    finding.cost = "Ranks do not reach into each other's arrays where HUDDLE_HEAP is 'auto'.";
    finding.remedy = "About a minute:";
    finding.command = "huddle calibrate";
    return finding;
  }
  finding.found = fmt::format(
      "loads from anywhere in an array of it take {:.2f} times as long as from the program's own, "
      "streams {:.2f} times",
      cost->loads, cost->stream);
  if (!cost->is_felt()) return finding;
  finding.state = State::limited;
  finding.cost =
      "It stays off where HUDDLE_HEAP is 'auto': large messages are copied where ranks could reach "
      "into each other's arrays. 'huddle run --heap on' turns it on.";
  const Finding pages = check_huge_pages(system).front();
  finding.remedy = pages.state == State::works
                       ? "None is known: shared memory has huge pages here."
                       : "Get huge pages, then calibrate again. " + pages.remedy;
  finding.command = pages.command;
  return finding;
}

}  // namespace huddle::doctor
