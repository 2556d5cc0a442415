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

// Returns a null-terminated argument vector for exec() and similar functions. The pointers refer to
// `words`.
inline std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

struct ProgramOutput {
  std::string text;       // stdout and stderr combined, about the first 64 KiB
  bool too_slow = false;  // the program was killed because the time was over
};

// Runs a program without input and returns its output, or nothing if it cannot be started. The
// first element of `arguments` is the program's path. The program leads a process group, which is
// killed when the program ends or after `wait`.
std::optional<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                         std::chrono::milliseconds wait);

// A pidfd always refers to the same process, whereas a process id may be reused after the process
// has been reaped.

// Returns whether the process of a pidfd is dead. Returns false for -1, for a closed descriptor and
// for one of another kind.
bool is_dead(int pidfd);

// Returns whether the id of the pidfd's process may have been reused, which is impossible while the
// process is alive or a zombie. Cheaper than is_dead(). Returns false for -1.
bool has_lost_number(int pidfd);

}  // namespace huddle
