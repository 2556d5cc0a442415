// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// Which file a command's first word stands for, found as the operating system finds it.

// The file that `word` would start: itself where it holds a slash, else the first of the folders in
// `search_path` (a PATH) that has such a program. Nothing where none can be started.
std::optional<std::string> find_program(const std::string& word, std::string_view search_path);

// Why there is nothing to start, and what to do. pre: find_program() found nothing.
std::string why_not_found(const std::string& word);

// A path and every link on the way to the file itself, that one last.
std::vector<std::string> along_links(const std::string& path);

// Words as a POSIX shell reads them.

// The word as it is where a shell takes it for one word, else between single quotes.
std::string shell_quoted(std::string_view word);

// A command that huddle waits for, in its own place: same terminal, same process group.

// How it ended: exactly one is not 0, or it was fine.
struct Ended {
  int status = 0;
  int signal = 0;
};

// Runs `program` to its end. Ctrl-C reaches it from the terminal and does nothing to us; what else
// asks us to end (SIGTERM, SIGHUP) is handed on to it. Threads that are started before have to
// block these signals. Throws FailureError where it cannot be started.
Ended run_to_end(const std::string& program, std::vector<std::string> words,
                 std::vector<std::string> environment);

}  // namespace huddle::launch
