// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/comm_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"

namespace huddle::mapping {
namespace {

enum class Format { huddle_comm, matrix_market, monitoring, edges, csv };

// Returns whether the line is one that Open MPI's monitoring component writes: point-to-point (E,
// I), one-sided (S, R) or collective (C).
bool is_monitoring(std::string_view line) {
  return line.size() > 2 && std::string_view("EISRC").find(line[0]) != std::string_view::npos &&
         (line[1] == '\t' || line[1] == ' ');
}

bool is_whole(std::string_view field) {
  return !field.empty() && std::all_of(field.begin(), field.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Returns whether the text is an edge list: each line begins with two whole numbers and has three
// fields, or more if blanks separate them. A file with equal numbers of lines and columns is a
// table instead.
bool looks_like_edges(std::string_view text) {
  Lines lines(text, "");
  std::vector<std::string_view> fields;
  std::size_t rows = 0;
  std::size_t most_columns = 0;
  for (auto line = lines.next("#%"); line && rows <= most_columns; line = lines.next("#%")) {
    split_fields(*line, fields);
    const bool by_blanks = line->find_first_of(",;") == std::string_view::npos;
    if (fields.size() < 3 || (fields.size() > 3 && !by_blanks)) return false;
    if (!is_whole(fields[0]) || !is_whole(fields[1])) return false;
    most_columns = std::max(most_columns, fields.size());
    ++rows;
  }
  return rows != most_columns;
}

Format format_of(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return Format::csv;
  const std::string_view rest = text.substr(start);
  if (rest.starts_with('{')) return Format::huddle_comm;
  if (rest.starts_with("%%MatrixMarket")) return Format::matrix_market;
  Lines lines(text, "");
  const auto first = lines.next("#");
  if (first && is_monitoring(*first)) return Format::monitoring;
  return looks_like_edges(text) ? Format::edges : Format::csv;
}

}  // namespace

std::string_view element_word(Kind kind) {
  switch (kind) {
    case Kind::unknown:
      return "element";
    case Kind::ranks:
      return "rank";
    case Kind::threads:
      return "thread";
  }
  return "element";
}

std::string CommMatrix::name_of(int element) const {
  if (names.empty()) return fmt::format("{}", element);
  return fmt::format("{} ({})", element, printable(names[static_cast<std::size_t>(element)]));
}

CommMatrix parse_matrix(std::string_view text, const std::string& name,
                        const ReadOptions& options) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t binary = text.find('\0');
  if (binary != std::string_view::npos) {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(binary), '\n');
    throw InputError(fmt::format(
        "{}:{}: not a text file, and not a format of matrices that huddle reads", name, line));
  }
  const Lines lines(text, name);
  const Format format = format_of(text);
  if (format != Format::huddle_comm && (!options.phase.empty() || options.with_collectives)) {
    throw InputError(
        fmt::format("{}: only files of huddle profile contain phases and collectives", name));
  }
  switch (format) {
    case Format::huddle_comm:
      return parse_huddle_comm(text, name, options);
    case Format::matrix_market:
      return parse_matrix_market(lines);
    case Format::monitoring:
      return parse_monitoring(lines);
    case Format::edges:
      return parse_edges(lines);
    case Format::csv:
      return parse_csv(lines, options.rows);
  }
  return {};
}

CommMatrix read_matrix(const std::string& path, const ReadOptions& options) {
  // A table of all pairs of 8,192 elements has about 500 MB.
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  return parse_matrix(read_text(path, most_bytes), input_name(path), options);
}

}  // namespace huddle::mapping
