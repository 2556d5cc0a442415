// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every algorithm by its name, "allgather:neighbor", and what it is for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/schedules/schedule.h"

namespace huddle::net {

// In which order a reduction joins.
enum class Order : std::uint8_t {
  none,         // it joins nothing
  association,  // that of association.h: bits do not depend on the algorithm
  free,         // for operators whose result no order changes
};

// Which numbers of a call change the schedule.
struct Uses {
  bool radix = false;
  bool segments = false;
  bool message_blocks = false;
  bool shares = false;
};

using MakeSchedule = std::unique_ptr<Schedule>(const Call& call);

struct Algorithm {
  Operation operation;
  std::string_view name;     // "neighbor"
  std::string_view summary;  // half a line
  Order order;
  Uses uses;
  bool in_place;  // input and output may be one buffer
  MakeSchedule* make;
  bool equal_blocks = false;  // all blocks have to be as large, since they pass through others

  std::string full_name() const;  // "allgather:neighbor"
};

// In the order of operations, the simplest first. All of them are for any number of ranks.
std::span<const Algorithm> algorithms();

// Throws UsageError that names the nearest.
const Algorithm& algorithm_named(std::string_view full_name);
Operation operation_named(std::string_view word);

// Throws UsageError where the call cannot be: no ranks, a root that is not there, a radix below 2.
std::unique_ptr<Schedule> make_schedule(const Algorithm& algorithm, const Call& call);

}  // namespace huddle::net
