// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Finds the file that a command's first word denotes, like the operating system, and runs programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// Returns the file that `word` would start: itself if it contains a slash, else the program in the
// first matching folder of `search_path` (a PATH). None if there is no such program.
std::optional<std::string> find_program(const std::string& word, std::string_view search_path);

// Returns why there is nothing to start, and a remedy.
// Requires: find_program() found nothing.
std::string why_not_found(const std::string& word);

// Returns a path and every link on the way to the file itself, the file last.
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
