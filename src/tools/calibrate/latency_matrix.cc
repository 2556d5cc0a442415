// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/latency_matrix.h"

#include <fmt/format.h>
#include <charconv>
#include <cmath>
#include <optional>

#include "common/error.h"
#include "common/text.h"
#include "model/machine/topology.h"

namespace huddle::calibrate {
namespace {

using Row = std::vector<std::string_view>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Splits the text into rows of fields. A final line break does not begin a row.
std::vector<Row> rows_of(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<Row> rows;
  if (trimmed(text).empty()) return rows;
  for (const std::string_view line : split(text, '\n')) {
    Row row;
    for (const std::string_view field : split(line, ',')) row.push_back(trimmed(field));
    rows.push_back(std::move(row));
  }
  return rows;
}

void require_square(const std::vector<Row>& rows, const std::string& name) {
  if (rows.empty()) throw InputError(fmt::format("{} contains no latencies", name));
  const std::size_t fields = rows.front().size();
  for (std::size_t row = 1; row < rows.size(); ++row) {
    if (rows[row].size() == fields) continue;
    throw InputError(fmt::format(
        "{}:{}: this row has {}, and the first has {}; every row needs a field for each hardware "
        "thread, which may be empty above the diagonal",
        name, row + 1, counted(static_cast<long long>(rows[row].size()), "field"), fields));
  }
  if (rows.size() != fields) {
    throw InputError(fmt::format(
        "{}: {} of {} fields are not a square matrix; it needs one row and one field for each "
        "hardware thread, and no header",
        name, counted(static_cast<long long>(rows.size()), "row"), fields));
  }
  if (rows.size() < 2 || rows.size() > machine::most_processors) {
    throw InputError(fmt::format("{}: latencies of {}; a machine file needs 2 to {}", name,
                                 counted(static_cast<long long>(rows.size()), "hardware thread"),
                                 machine::most_processors));
  }
}

// Returns nothing for an empty field.
std::optional<double> latency(const std::vector<Row>& rows, std::size_t row, std::size_t column,
                              const std::string& name) {
  const std::string_view field = rows[row][column];
  if (field.empty()) return std::nullopt;
  double ns = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), ns);
  if (error == std::errc{} && end == field.data() + field.size() && std::isfinite(ns) && ns > 0) {
    return ns;
  }
  throw InputError(
      fmt::format("{}:{}: '{}' in field {} is no latency; write a positive number of "
                  "nanoseconds",
                  name, row + 1, printable(field), column + 1));
}

double pair_latency(const std::vector<Row>& rows, std::size_t a, std::size_t b,
                    const std::string& name) {
  const std::optional<double> there = latency(rows, a, b, name);
  const std::optional<double> back = latency(rows, b, a, name);
  if (there && back) return (*there + *back) / 2;
  if (there || back) return there ? *there : *back;
  throw InputError(
      fmt::format("{}:{}: the latency between hardware threads {} and {} is missing; the lower "
                  "triangle must be "
                  "complete",
                  name, a + 1, b, a));
}

}  // namespace

LatencyMatrix parse_latencies(std::string_view text, const std::string& name) {
  const std::vector<Row> rows = rows_of(text);
  require_square(rows, name);
  LatencyMatrix matrix(rows.size());
  for (std::size_t a = 1; a < rows.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) matrix.set(a, b, pair_latency(rows, a, b, name));
  }
  return matrix;
}

}  // namespace huddle::calibrate
