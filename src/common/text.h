// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Helpers that parse and format text for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace huddle {

// Returns the candidate with the smallest edit distance to `word`, or an empty string if none is
// close enough to be a typing error: at most one edit per three characters. A swap of adjacent
// characters is one edit.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// Returns "; did you mean 'machine'?" or an empty string, to end an error about an unknown name.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// Returns huddle's name of a collective that may be spelled as in MPI: "MPI_Bcast" -> "bcast".
std::string collective_word(std::string_view word);

// Formats a size: 64, 48K, 32M, 1.5G (powers of 1024).
std::string size_text(double bytes);

// Parses a size in bytes: 64, 48K, 1.5M, 64KiB, 2gb. Returns nothing if it is invalid.
std::optional<std::size_t> size_from(std::string_view text);

// Splits the text at each separator. An empty text has one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

// Formats a number with a noun in the singular or plural: 1 segment, 4 segments.
std::string counted(long long number, std::string_view thing);

// Formats a time with three significant digits and its unit: 47.2 ns, 1.63 us, 12 ms, 2.5 s.
std::string time_text(double ns);

// Returns the text on one line with every control character replaced by '?', because text from a
// file or the environment must not control the terminal.
std::string printable(std::string_view utf8);

// Returns the width of the text in a terminal (UTF-8, one column per character).
std::size_t display_width(std::string_view utf8);

}  // namespace huddle
