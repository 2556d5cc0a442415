// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/terminal_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

#include "common/text.h"

namespace huddle::cli {

int width_of(std::string_view text) { return static_cast<int>(display_width(text)); }

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(0, count)), ' ');
}

std::string wrap(std::string_view head, std::string_view text, int hang, int columns) {
  std::string result;
  std::string line(head);
  bool line_has_word = false;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) {
    const int space = line_has_word ? 1 : 0;
    const bool past_the_start = line_has_word || width_of(line) > hang;
    if (past_the_start && width_of(line) + space + width_of(word) > columns) {
      result += line + "\n";
      line = spaces(hang);
    } else {
      line += spaces(space);
    }
    line += word;
    line_has_word = true;
  }
  return result + line + "\n";
}

std::string padded(std::string_view text, int width) {
  return std::string(text) + spaces(width - width_of(text));
}

namespace {

// Width of "1023.4": numbers of adjacent tables are usually aligned.
constexpr int usual_figure_columns = 7;
// Names in fewer columns would consist of line breaks.
constexpr int fewest_name_columns = 14;

// A broken name: all lines but the last, and the last line, after which the numbers follow.
struct BrokenName {
  std::string before;
  std::string last;
};

BrokenName broken(const std::string& name, int indent, int columns) {
  std::string text = wrap(spaces(indent), name, indent, columns);
  text.pop_back();
  const std::size_t line_break = text.rfind('\n');
  if (line_break == std::string::npos) return {"", text};
  return {text.substr(0, line_break + 1), text.substr(line_break + 1)};
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

int longest_word(const std::string& text) {
  std::istringstream stream(text);
  int longest = 0;
  for (std::string word; stream >> word;) longest = std::max(longest, width_of(word));
  return longest;
}

int sum_of_figures(const std::vector<int>& widths) {
  return std::accumulate(widths.begin() + 1, widths.end(), 0) +
         column_gap * (static_cast<int>(widths.size()) - 1);
}

}  // namespace

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::vector<int> Table::widths(int least_figure_columns) const {
  std::vector<int> widths(rows_.front().size(), least_figure_columns);
  widths[0] = look_.name_columns;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    widths[0] = std::max(widths[0], indent_of(row) + width_of(rows_[row][0]));
    for (std::size_t i = 1; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(rows_[row][i]));
    }
  }
  return widths;
}

std::string Table::figures(const Row& row, const std::vector<int>& widths) const {
  std::string text;
  for (std::size_t i = 1; i < row.size(); ++i) {
    text += spaces(column_gap + widths[i] - width_of(row[i])) + row[i];
  }
  return text;
}

int Table::least_name_columns() const {
  int least = fewest_name_columns;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    least = std::max(least, indent_of(row) + longest_word(rows_[row][0]));
  }
  return least;
}

std::string Table::text(int columns) const {
  const int least = least_name_columns();
  std::vector<int> widths = this->widths(usual_figure_columns);
  if (columns - sum_of_figures(widths) < least) widths = this->widths(0);
  const int room = columns - sum_of_figures(widths);
  const bool below = room < least;
  const int for_names = std::min(widths[0], below ? columns : room);
  std::string text;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const BrokenName name = broken(rows_[row][0], indent_of(row), for_names);
    const std::string figures = this->figures(rows_[row], widths);
    text += name.before;
    text += below ? name.last + "\n" + without_trailing_blanks(figures)
                  : without_trailing_blanks(padded(name.last, for_names) + figures);
    text += '\n';
  }
  return text;
}

Shading::Shading(const ShadeRange& range) : range_(range) {
  // The lightest and the darkest shade have half the width of the others, so that the ends of the
  // range are in the middle of a shade.
  for (std::size_t i = 0; i < shades; ++i) {
    const double fraction = (static_cast<double>(i) + 0.5) / (shades - 1);
    limits_[i] = i + 1 == shades || range.pale
                     ? range.most
                     : range.least * std::pow(range.most / range.least, fraction);
  }
}

std::string_view Shading::character(std::size_t step) const {
  static constexpr std::array<std::string_view, shades + 1> blocks = {"··", "░░", "▒▒", "▓▓", "██"};
  static constexpr std::array<std::string_view, shades + 1> signs = {"..", "::", "oo", "OO", "##"};
  return range_.unicode ? blocks[step] : signs[step];
}

std::string_view Shading::of(double amount) const {
  if (amount <= 0 || amount < range_.least) return character(0);
  if (range_.most <= range_.least && !range_.pale) return character(shades);
  // Amounts are sums, and limits are powers: both have rounding errors.
  constexpr double rounding = 1 + 1e-9;
  std::size_t step = 0;
  while (step + 1 < shades && amount > limits_[step] * rounding) ++step;
  return character(step + 1);
}

std::string Shading::legend(std::string_view blank,
                            const std::function<std::string(double)>& text) const {
  std::string legend = fmt::format("{} {}", character(0), blank);
  if (range_.most <= 0) return legend;
  if (range_.most <= range_.least && !range_.pale) {
    return legend + fmt::format(", {} to {}", character(shades), text(range_.most));
  }
  const std::string largest = text(range_.most);
  std::string previous;
  for (std::size_t step = 0; step < shades; ++step) {
    const std::string limit = text(limits_[step]);
    const bool is_last = step + 1 == shades || range_.pale;
    if (!is_last && (limit == previous || limit == largest)) continue;
    legend += fmt::format(", {} to {}", character(step + 1), limit);
    previous = limit;
    if (is_last) break;
  }
  return legend;
}

}  // namespace huddle::cli
