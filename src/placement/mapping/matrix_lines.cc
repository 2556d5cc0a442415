// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/comm_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "common/error.h"
#include "common/text.h"

namespace huddle::mapping {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string quoted(std::string_view field) {
  constexpr std::size_t most = 40;
  std::string text = printable(field.substr(0, most));
  return field.size() > most ? "'" + text + "...'" : "'" + text + "'";
}

std::optional<double> field_value(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  const char* const end = field.data() + field.size();
  // Most values are whole numbers, which parse several times as fast.
  std::uint32_t whole = 0;
  const auto [after, overflow] = std::from_chars(field.data(), end, whole);
  if (overflow == std::errc() && after == end) return whole;
  double value = 0;
  const auto [rest, error] = std::from_chars(field.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

CommMatrix finished(Kind kind, GraphBuilder& builder) {
  CommMatrix matrix;
  matrix.kind = kind;
  matrix.graph = builder.finish();
  note_folded(matrix, builder.folded());
  return matrix;
}

CommMatrix from_flows(Kind kind, const std::vector<Flow>& flows, int elements) {
  GraphBuilder builder(elements);
  for (const Flow& flow : flows) builder.add(flow);
  return finished(kind, builder);
}

}  // namespace

std::optional<std::string_view> Lines::next(std::string_view comment_signs) {
  while (at_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = trimmed(text_.substr(at_, end - at_));
    at_ = end + 1;
    ++number_;
    if (!line.empty() && comment_signs.find(line.front()) == std::string_view::npos) return line;
  }
  return std::nullopt;
}

void Lines::fail(const std::string& what) const {
  throw InputError(fmt::format("{}:{}: {}", name_, std::max(number_, 1), what));
}

void Lines::fail_whole(const std::string& what) const {
  throw InputError(fmt::format("{}:1: {}", name_, what));
}

double Lines::amount(std::string_view field) const {
  const std::optional<double> value = field_value(field);
  if (!value) fail(fmt::format("{} is not a number", quoted(field)));
  if (!std::isfinite(*value) || *value > most_bytes_of_a_pair) {
    fail(fmt::format("{} is not an amount of data", quoted(field)));
  }
  if (*value < 0) fail(fmt::format("{} is negative; bytes must be 0 or more", quoted(field)));
  return *value;
}

int Lines::element(std::string_view field, int count) const {
  const std::optional<double> value = field_value(field);
  if (!value || *value != std::floor(*value) || *value < 0) {
    fail(fmt::format("{} is not the number of an element", quoted(field)));
  }
  if (*value >= count) {
    fail(fmt::format("element {} is out of range; elements are numbered from 0 to {}",
                     quoted(field), count - 1));
  }
  return static_cast<int>(*value);
}

void split_fields(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  const char separator = line.find(';') != std::string_view::npos   ? ';'
                         : line.find(',') != std::string_view::npos ? ','
                                                                    : ' ';
  std::size_t at = 0;
  while (at <= line.size()) {
    std::size_t end = separator == ' ' ? line.find_first_of(blanks, at) : line.find(separator, at);
    end = std::min(end, line.size());
    std::string_view field = trimmed(line.substr(at, end - at));
    if (field.size() > 1 && field.front() == '"' && field.back() == '"') {
      field = field.substr(1, field.size() - 2);
    }
    if (separator != ' ' || !field.empty()) fields.push_back(field);
    at = end + 1;
  }
  // A separator at the end of a line adds no field.
  if (separator != ' ' && !fields.empty() && fields.back().empty()) fields.pop_back();
}

void note_folded(CommMatrix& matrix, const Folded& folded) {
  if (folded.one_sided > 0) {
    matrix.notes.push_back(fmt::format("{} differ{} by direction: both directions were added up",
                                       counted(static_cast<long long>(folded.one_sided), "pair"),
                                       folded.one_sided == 1 ? "s" : ""));
  }
  if (folded.on_diagonal > 0) {
    matrix.notes.push_back(
        fmt::format("{} on the diagonal {} ignored: data that an element sends to itself do not "
                    "affect the placement",
                    counted(static_cast<long long>(folded.on_diagonal), "entry"),
                    folded.on_diagonal == 1 ? "is" : "are"));
  }
}

namespace {

// Fast path: parses a row that contains only whole numbers. Returns false for any other row.
bool read_plain_row(std::string_view line, std::vector<double>& amounts) {
  amounts.clear();
  const char* at = line.data();
  const char* const end = at + line.size();
  while (at < end) {
    std::uint32_t whole = 0;
    const auto [after, error] = std::from_chars(at, end, whole);
    if (error != std::errc()) return false;
    amounts.push_back(whole);
    if (after == end) return true;
    if (*after != ',' && *after != ';' && *after != ' ' && *after != '\t') return false;
    at = after + 1;
  }
  return true;
}

// Reads a CSV file row by row.
class CsvTable {
 public:
  explicit CsvTable(Lines& lines) : lines_(lines) {
    line_ = lines_.next("#");
    if (!line_) lines_.fail_whole("the file is empty, but must contain a matrix");
    split_fields(*line_, fields_);
    // Column names may be numbers, but the first field of a heading is not. A row that begins with
    // a number belongs to the matrix, and its other fields must be numbers, too.
    if (!fields_.empty() && !field_value(fields_.front())) take_heading();
    columns_ = fields_.size() - std::min(skipped(), fields_.size());
    if (columns_ == 0) lines_.fail("a row without numbers");
    if (columns_ > static_cast<std::size_t>(most_elements)) {
      lines_.fail(
          fmt::format("{} columns; huddle places at most {} elements", columns_, most_elements));
    }
    if (!names_.empty() && names_.size() != columns_) {
      lines_.fail(
          fmt::format("{} below a heading with {} names", numbers(columns_), names_.size()));
    }
  }

  std::size_t columns() const { return columns_; }
  std::vector<std::string> take_names() { return std::move(names_); }

  // Returns the numbers of the current row; null at the end.
  const std::vector<double>* next_row() {
    if (!line_) return nullptr;
    if (names_begin_rows_ || !read_plain_row(*line_, amounts_)) {
      split_fields(*line_, fields_);
      amounts_.clear();
      for (std::size_t i = skipped(); i < fields_.size(); ++i) {
        amounts_.push_back(lines_.amount(fields_[i]));
      }
    }
    if (amounts_.size() != columns_) {
      lines_.fail(fmt::format("{} in this row, but {} in the first one", numbers(amounts_.size()),
                              columns_));
    }
    return &amounts_;
  }
  void go_on() { line_ = lines_.next("#"); }

 private:
  static std::string numbers(std::size_t count) {
    return counted(static_cast<long long>(count), "number");
  }
  std::size_t skipped() const { return names_begin_rows_ ? 1 : 0; }

  // Reads the column names. If the rows begin with names as well, the heading may have an
  // additional field above these.
  void take_heading() {
    for (const std::string_view field : fields_) names_.emplace_back(field);
    line_ = lines_.next("#");
    if (!line_) lines_.fail("a heading without rows below it");
    split_fields(*line_, fields_);
    if (fields_.empty()) lines_.fail("a row without numbers");
    names_begin_rows_ = !field_value(fields_.front()) || names_.front().empty();
    if (names_begin_rows_ && names_.size() == fields_.size()) names_.erase(names_.begin());
  }

  Lines& lines_;
  std::optional<std::string_view> line_;
  std::vector<std::string_view> fields_;
  std::vector<std::string> names_;
  bool names_begin_rows_ = false;
  std::size_t columns_ = 0;
  std::vector<double> amounts_;
};

}  // namespace

CommMatrix parse_csv(Lines lines, Rows rows) {
  CsvTable table(lines);
  const int elements = static_cast<int>(table.columns());
  GraphBuilder builder(elements);
  int row = 0;
  for (; const std::vector<double>* amounts = table.next_row(); ++row, table.go_on()) {
    if (row == elements) lines.fail(fmt::format("more rows than the {} columns", elements));
    const int from = rows == Rows::first ? row : elements - 1 - row;
    for (int to = 0; to < elements; ++to) {
      builder.add({from, to, (*amounts)[static_cast<std::size_t>(to)]});
    }
  }
  if (row < elements) {
    lines.fail(fmt::format("the file ends after {} of {} columns", counted(row, "row"), elements));
  }
  CommMatrix matrix = finished(Kind::unknown, builder);
  matrix.names = table.take_names();
  return matrix;
}

CommMatrix parse_matrix_market(Lines lines) {
  const auto heading = lines.next("");
  std::vector<std::string_view> words;
  split_fields(*heading, words);
  const auto says = [&words](std::size_t i, std::string_view word) {
    return i < words.size() && words[i].size() == word.size() &&
           std::equal(word.begin(), word.end(), words[i].begin(),
                      [](unsigned char a, unsigned char b) { return std::tolower(b) == a; });
  };
  const bool coordinate = says(2, "coordinate");
  const bool pattern = says(3, "pattern");
  const bool symmetric = says(4, "symmetric");
  if (!says(1, "matrix") || !(coordinate || says(2, "array")) ||
      !(pattern || says(3, "real") || says(3, "integer")) || !(symmetric || says(4, "general"))) {
    lines.fail(
        "unsupported header; huddle reads 'matrix coordinate|array real|integer|pattern "
        "general|symmetric'");
  }
  const auto sizes = lines.next("%");
  if (!sizes) lines.fail("the file ends before its sizes");
  std::vector<std::string_view> fields;
  split_fields(*sizes, fields);
  if (fields.size() < (coordinate ? 3U : 2U))
    lines.fail("this line must contain the sizes of the matrix");
  const int rows = lines.element(fields[0], most_elements + 1);
  const int columns = lines.element(fields[1], most_elements + 1);
  if (rows != columns)
    lines.fail(fmt::format("{} rows and {} columns: the matrix must be square", rows, columns));
  if (rows == 0) lines.fail("the matrix is empty");
  const double entries = coordinate ? lines.amount(fields[2]) : 0;
  GraphBuilder builder(rows);
  const auto add = [&](int from, int to, double bytes) {
    builder.add({from, to, bytes});
    if (symmetric && from != to) builder.add({to, from, bytes});
  };
  double read = 0;
  int array_row = 0;
  int array_column = 0;
  while (const auto line = lines.next("%")) {
    split_fields(*line, fields);
    if (coordinate) {
      if (fields.size() < (pattern ? 2U : 3U))
        lines.fail("this line must contain row, column and value");
      const int from = lines.element(fields[0], rows + 1);
      const int to = lines.element(fields[1], rows + 1);
      if (from == 0 || to == 0) lines.fail("rows and columns are counted from 1 in this format");
      add(from - 1, to - 1, pattern ? 1 : lines.amount(fields[2]));
    } else {
      if (array_column == columns) lines.fail("more values than the matrix has");
      add(array_row, array_column, lines.amount(fields[0]));
      if (++array_row == rows) {
        ++array_column;
        array_row = symmetric ? array_column : 0;
      }
    }
    ++read;
  }
  if (coordinate && read != entries) {
    lines.fail(fmt::format("{:.0f} entries, but {:.0f} were announced", read, entries));
  }
  if (!coordinate && array_column != columns)
    lines.fail("the file ends in the middle of the matrix");
  return finished(Kind::unknown, builder);
}

// Reads lines such as "E  0  1  4096 bytes  2 msgs sent  0,1,...": from, to, bytes, messages. E is
// point-to-point traffic of the program, I of the MPI itself; S and R one-sided, C collective.
CommMatrix parse_monitoring(Lines lines) {
  std::vector<Flow> flows;
  std::vector<std::string_view> fields;
  int elements = 0;
  std::size_t internal = 0;
  while (const auto line = lines.next("#")) {
    split_fields(line->substr(0, line->find(',')), fields);
    if (fields.empty()) continue;
    const bool sends = fields[0] == "E" || fields[0] == "S" || fields[0] == "R";
    const bool of_the_mpi = fields[0] == "I" || fields[0] == "C";
    if (!sends && !of_the_mpi) continue;  // summaries between the tables
    if (!sends) {
      ++internal;
      continue;
    }
    if (fields.size() < 4) lines.fail("this line must have the form 'E from to bytes'");
    const int from = lines.element(fields[1], most_elements);
    const int to = lines.element(fields[2], most_elements);
    flows.push_back({from, to, lines.amount(fields[3])});
    elements = std::max({elements, from + 1, to + 1});
  }
  if (elements == 0) lines.fail_whole("this file contains no messages");
  CommMatrix matrix = from_flows(Kind::ranks, flows, elements);
  if (internal > 0) {
    matrix.notes.push_back(
        fmt::format("{} with messages of collectives ignored: they depend on the placement",
                    internal == 1 ? "1 line" : fmt::format("{} lines", internal)));
  }
  return matrix;
}

CommMatrix parse_edges(Lines lines) {
  std::vector<Flow> flows;
  std::vector<std::string_view> fields;
  int elements = 0;
  while (const auto line = lines.next("#%")) {
    split_fields(*line, fields);
    if (fields.size() < 3) lines.fail("this line must have the form 'from to bytes'");
    const int from = lines.element(fields[0], most_elements);
    const int to = lines.element(fields[1], most_elements);
    flows.push_back({from, to, lines.amount(fields[2])});
    elements = std::max({elements, from + 1, to + 1});
  }
  return from_flows(Kind::unknown, flows, elements);
}

}  // namespace huddle::mapping
