// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/assignments.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "placement/mapping/matrix_lines.h"

namespace huddle::place {
namespace {

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 0) return std::nullopt;
  return value;
}

std::optional<Assignment> assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::size_t colon = text.find(':', equals);
  const bool has_node = colon != std::string_view::npos;
  const auto element = whole_number(text.substr(0, equals));
  const auto node = has_node ? whole_number(text.substr(equals + 1, colon - equals - 1)) : 0;
  const auto pu = whole_number(text.substr((has_node ? colon : equals) + 1));
  if (!element || !node || !pu) return std::nullopt;
  return Assignment{*element, {*node, *pu}};
}

std::string misread(std::string_view text) {
  return fmt::format(
      "'{}' is no ELEMENT=PROCESSOR, such as 3=12, or 3=1:12 for processor 12 of node 1",
      printable(text.substr(0, 40)));
}

}  // namespace

std::vector<Assignment> parse_assignments(std::string_view text) {
  std::vector<Assignment> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const auto one = assignment(text.substr(at, end - at));
    if (!one) throw UsageError(misread(text.substr(at, end - at)));
    all.push_back(*one);
    at = end + 1;
  }
  return all;
}

std::vector<Assignment> parse_assignment_lines(std::string_view text, const std::string& name) {
  std::vector<Assignment> all;
  std::vector<std::string_view> fields;
  Lines lines(text, name);
  while (const auto line = lines.next("#")) {
    split_fields(*line, fields);
    for (const std::string_view field : fields) {
      const auto one = assignment(field);
      if (!one) lines.fail(misread(field));
      all.push_back(*one);
    }
  }
  return all;
}

std::vector<Assignment> read_assignments(const std::string& path) {
  return parse_assignment_lines(read_text(path), path);
}

}  // namespace huddle::place
