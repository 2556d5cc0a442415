// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle sim --with simgrid` asks the judge, as words of a command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/placement.h"
#include "net/schedule.h"

namespace huddle::sim {

struct Question {
  std::string fabric;
  std::string machine;    // "": the fabric's own
  std::string algorithm;  // "allgather:ring"
  net::Call call;
  double block_bytes = 0;
  fabric::Placement placement = fabric::Placement::block;
  std::uint64_t seed = 0;
};

std::vector<std::string> words_of(const Question& question);
// Throws UsageError for words that are none of these.
Question question(const std::vector<std::string>& words);

}  // namespace huddle::sim
