// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The question that `huddle sim --reference JUDGE` passes to another simulator, the judge, as
// command line arguments.
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
  simgrid,           // huddle's schedule; concurrent messages share a node's NIC evenly
  simgrid_in_order,  // the same, but later rounds wait for earlier ones, as in huddle sim
  smpi,              // SMPI's own algorithm of the same name
};
inline constexpr std::array<std::string_view, 3> judge_names = {"simgrid", "simgrid-in-order",
                                                                "smpi"};
std::optional<Judge> judge_named(std::string_view name);

// Returns SMPI's name of an algorithm such as "allgather:doubling"; "" if SMPI has none like it.
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
// Parses the result of words_of(). Throws UsageError for other words.
Question question(const std::vector<std::string>& words);

}  // namespace huddle::network
