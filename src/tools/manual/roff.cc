// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/manual/roff.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace huddle::manual {
namespace {

// What stands for a character that roff, or its fonts, would take for something else.
std::string escaped(char c) {
  constexpr std::string_view taken = "\\'`^~\"";
  constexpr std::string_view names[] = {"\\e", "\\(aq", "\\(ga", "\\(ha", "\\(ti", "\\(dq"};
  const std::size_t at = taken.find(c);
  return at == std::string_view::npos ? std::string(1, c) : std::string(names[at]);
}

// "--peers", also behind an opening bracket or quote.
bool is_option(std::string_view word) {
  const auto first = std::find_if_not(word.begin(), word.end(), [](char c) {
    return c == '(' || c == '\'' || c == '"' || c == '[';
  });
  return first != word.end() && *first == '-' && first + 1 != word.end();
}

// A line that begins with one of these would be a request.
std::string guarded(const std::string& line) {
  return !line.empty() && line.front() == '.' ? "\\&" + line : line;
}

}  // namespace

std::string literal(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '-' ? "\\-" : escaped(c);
  return result;
}

std::string prose(std::string_view text) {
  std::string result;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!result.empty()) result += ' ';
    if (is_option(word)) {
      result += literal(word);
      continue;
    }
    for (const char c : word) result += escaped(c);
  }
  return guarded(result);
}

std::string bold(std::string_view text) { return "\\fB" + literal(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + literal(text) + "\\fR"; }

std::string paragraphs(std::string_view text) {
  std::string result;
  bool shown_as_it_is = false;
  bool after_a_gap = false;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with(' ');
    if (shown_as_it_is && !indented) result += ".EE\n";
    const bool begins = after_a_gap || indented != shown_as_it_is;
    const bool opens = indented && !shown_as_it_is;
    after_a_gap = line.empty();
    shown_as_it_is = indented;
    if (line.empty()) continue;
    if (begins && !result.empty()) result += ".PP\n";
    if (opens) result += ".EX\n";
    result += (indented ? guarded(literal(line)) : prose(line)) + "\n";
  }
  return result + (shown_as_it_is ? ".EE\n" : "");
}

std::string section(std::string_view heading, std::string_view text) {
  return fmt::format(".SH {}\n{}", heading, text);
}

std::string item(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", term, prose(text));
}

}  // namespace huddle::manual
