// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace huddle {

// As exec() and its like take words. They stay those of `words`.
inline std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Runs another program and keeps what it prints, but not for longer than it may take.
struct ProgramOutput {
  std::string text;  // stdout and stderr together, the first 64 KiB
  bool too_slow = false;
};

// Runs `arguments` (the first one is the path of the program) with no input, as the leader of a
// process group that is killed when the time is over. Nothing when it cannot be started.
std::optional<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                         std::chrono::milliseconds wait);

// A hold on a process that stays its own: its number is given to another one some time after it has
// died.

// Returns whether the process behind a pidfd is dead. False for -1, a closed descriptor, and one of
// another kind.
bool is_dead(int pidfd);

// Whether its number may be another one's by now: not while it is dead and nobody has waited for
// it. The cheaper question of the two. -1 keeps its number.
bool has_lost_number(int pidfd);

}  // namespace huddle
