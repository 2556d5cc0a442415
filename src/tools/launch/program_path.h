// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which file a command's first word stands for, found as the operating system finds it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// The file that `word` would start: itself where it holds a slash, else the first of the folders in
// `search_path` (a PATH) that has such a program. Nothing where none can be started.
std::optional<std::string> find_program(const std::string& word, std::string_view search_path);

// Why there is nothing to start, and what to do. pre: find_program() found nothing.
std::string why_not_found(const std::string& word);

// A path and every link on the way to the file itself, that one last.
std::vector<std::string> along_links(const std::string& path);

}  // namespace huddle::launch
