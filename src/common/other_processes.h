// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs other programs, and checks by pidfds whether processes are alive.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace huddle {

// Returns an argument vector for exec() and similar functions that refers to `words`.
inline std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

struct ProgramOutput {
  std::string text;       // stdout and stderr combined, about the first 64 KiB
  bool too_slow = false;  // the program exceeded the time limit and was killed
};

// Runs a program without input and returns its output, or nothing if it cannot be started. The
// first element of `arguments` is the program's path. The program leads a new process group, which
// is killed when the program ends or after `wait`.
std::optional<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                         std::chrono::milliseconds wait);

// A pidfd always refers to the same process, but the id of a reaped process may be reused.

// Returns whether the process of a pidfd is dead; false for -1 and for descriptors that are not
// pidfds.
bool is_dead(int pidfd);

// Returns whether the id of the pidfd's process may have been reused, which is impossible while the
// process is alive or a zombie. Cheaper than is_dead(). Returns false for -1.
bool has_lost_number(int pidfd);

}  // namespace huddle
