// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs another program and keeps what it prints, but not for longer than it may take.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace huddle {

struct ProgramOutput {
  std::string text;  // stdout and stderr together, the first 64 KiB
  bool too_slow = false;
};

// Runs `arguments` (the first one is the path of the program) with no input, as the leader of a
// process group that is killed when the time is over. Nothing when it cannot be started.
std::optional<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                         std::chrono::milliseconds wait);

}  // namespace huddle
