// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs other programs, and checks whether processes are alive.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

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

// Returns the fields of a line of /proc/ID/stat that follow the name, beginning with field 3; none
// if it is not such a line.
std::vector<std::string> fields_behind_name(std::string_view line);

// A process from /proc/ID/stat.
struct ProcessStatus {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start_time = 0;  // in clock ticks since boot

  // A process whose first thread has ended is a zombie too, but lives on if it has other threads.
  bool has_ended() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};

// Returns nothing if the line is not one of such a file.
std::optional<ProcessStatus> process_status(std::string_view line);

// The id of a reaped process may be reused. The descriptor of a process always refers to the same
// process.

// Opens a descriptor of a process: a pidfd, or the file /proc/ID/stat if there are no pidfds (Linux
// before 5.3, or a filter of system calls). If that fails, the result is not open, and errno is
// ESRCH if there is no such process, and EACCES if it exists but /proc does not show it.
FileDescriptor open_process(pid_t process);

// Returns whether the process of a descriptor is dead; false for -1 and for descriptors that do not
// refer to a process.
bool is_dead(int descriptor);

// Returns whether the id of the descriptor's process may have been reused, which is impossible
// while the process is alive or a zombie. Cheaper than is_dead(). Returns false for -1.
bool has_lost_number(int descriptor);

}  // namespace huddle
