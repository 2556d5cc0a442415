// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Whole files: read with an error that says what is wrong, written all or nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace huddle {

// Whether a word is the path of a TOML file: it has a slash in it or ends in .toml. Any other word
// is a name, under which a file is looked for.
bool is_toml_path(std::string_view word);

// The largest file of huddle's own (a machine of 1,024 cores, every pair) has some 10 MB.
inline constexpr std::size_t most_file_bytes = std::size_t{64} << 20;

// The path that stands for standard input.
inline constexpr std::string_view standard_input = "-";

// What to call a file in messages: its path, or "standard input".
std::string input_name(const std::string& path);

// Reads a regular file, a pipe, or standard input if the path is "-". Throws InputError that names
// the file.
std::string read_text(const std::string& path, std::size_t most_bytes = most_file_bytes);

// A regular file is written beside its place and renamed over it, so that nobody ever sees half of
// it, and a link keeps pointing at it; anything else (a pipe, /dev/null) is written into. Makes
// missing folders. Throws FailureError that names the file.
void write_text(std::string_view text, const std::string& path);

}  // namespace huddle
