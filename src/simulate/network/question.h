// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle sim --with JUDGE` asks the judge, as words of a command line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/fabric/fabric.h"
#include "runtime/schedules/schedule.h"

namespace huddle::network {

enum class Judge {
  simgrid,  // the same schedule; messages that leave a node at one time share its card evenly
  simgrid_in_order,  // the same, but the messages of a later round wait for the earlier, as in
                     // huddle
  smpi,              // SMPI's own algorithm that is called the same
};
inline constexpr std::array<std::string_view, 3> judge_names = {"simgrid", "simgrid-in-order",
                                                                "smpi"};
std::optional<Judge> judge_named(std::string_view name);

// What SMPI calls "allgather:doubling"; "": it has nothing like that.
std::string_view smpi_algorithm(std::string_view algorithm);

struct Question {
  Judge judge = Judge::simgrid;
  std::string fabric;
  std::string machine;    // "": the fabric's own
  std::string algorithm;  // "allgather:ring"
  schedules::Call call;
  double block_bytes = 0;
  fabric::Placement placement = fabric::Placement::block;
  std::uint64_t seed = 0;
};

std::vector<std::string> words_of(const Question& question);
// Throws UsageError for words that are none of these.
Question question(const std::vector<std::string>& words);

}  // namespace huddle::network
