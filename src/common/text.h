// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Small helpers for text that people read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace huddle {

// Returns the candidate with the smallest edit distance to `word`; empty if none is near enough to
// be what the writer meant: more than one edit for each three characters. A swap is one edit.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean 'machine'?" or nothing: the tail of every error about an unknown name.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// What huddle calls a collective that somebody may have written as MPI does: "MPI_Bcast" ->
// "bcast".
std::string collective_word(std::string_view word);

// A size as people say it: 64, 48K, 32M, 1.5G (powers of 1024).
std::string size_text(double bytes);

// The bytes that such a text means, whole ones: 64, 48K, 1.5M, 64KiB, 2gb. Nothing where it is
// none.
std::optional<std::size_t> size_from(std::string_view text);

// What stands between separators; of an empty text one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

// How many of something: 1 segment, 4 segments.
std::string counted(long long number, std::string_view thing);

// A time with three significant digits and its unit: 47.2 ns, 1.63 us, 12 ms, 2.5 s.
std::string time_text(double ns);

// The text on one line, with every control character as '?': what comes from a file or from the
// environment must not give orders to a terminal.
std::string printable(std::string_view utf8);

// How many columns the text takes in a terminal (UTF-8, one column a character).
std::size_t display_width(std::string_view utf8);

}  // namespace huddle
