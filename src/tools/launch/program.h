// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Finds the program that the first word of a command names, as shells do, and runs programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// Returns the file that `word` would start: itself if it contains a slash, otherwise the program in
// the first matching folder of `search_path` (a PATH). Returns none if there is no such program.
std::optional<std::string> find_program(const std::string& word, std::string_view search_path);

// Returns the reason why a word names no program, and a remedy.
// Requires: find_program() found nothing.
std::string why_not_found(const std::string& word);

// Returns the path and, if it is a symbolic link, every link on the way to the file and the file,
// in this order.
std::vector<std::string> along_links(const std::string& path);

// Quotes a word for a POSIX shell, in single quotes if necessary.
std::string shell_quoted(std::string_view word);

// The exit status or signal of a program. At most one member is not 0.
struct Ended {
  int status = 0;
  int signal = 0;
};

// Runs `program` to its end in the same terminal and process group. Ctrl-C reaches the program from
// the terminal and is ignored here; SIGTERM and SIGHUP are forwarded to it. Throws FailureError if
// it cannot be started.
// Requires: threads that were started before block these signals.
Ended run_to_end(const std::string& program, std::vector<std::string> words,
                 std::vector<std::string> environment);

}  // namespace huddle::launch
