// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/fabric/host_list.h"

#include <fmt/format.h>

#include <charconv>

#include "common/error.h"

namespace huddle::fabric {
namespace {

constexpr std::size_t longest_name = 128;  // with its brackets
constexpr std::size_t most_digits = 9;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw InputError(fmt::format("'{}' names no nodes: {}", text, why));
}

int number(std::string_view digits, std::string_view whole) {
  int value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end || value < 0 || digits.size() > most_digits) {
    refuse(whole, fmt::format("'{}' is not a number", digits));
  }
  return value;
}

// Cuts `text` at commas that stand outside of brackets.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && !inside)) {
      items.push_back(text.substr(start, i - start));
      start = i + 1;
    } else if (text[i] == '[' || text[i] == ']') {
      if (inside == (text[i] == '[')) refuse(text, "its brackets do not match");
      inside = !inside;
    }
  }
  if (inside) refuse(text, "its brackets do not match");
  return items;
}

// "0-3,7" with zeros in front kept, as "00-15" has them.
std::vector<std::string> numbers_of(std::string_view ranges, std::string_view whole,
                                    std::size_t most) {
  std::vector<std::string> all;
  for (const std::string_view range : items_of(ranges)) {
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const int from = number(first, whole);
    const int to = number(last, whole);
    if (to < from) refuse(whole, fmt::format("{} runs backwards", range));
    if (all.size() + static_cast<std::size_t>(to - from) >= most) refuse(whole, "too many");
    for (int i = from; i <= to; ++i) all.push_back(fmt::format("{:0{}}", i, first.size()));
  }
  return all;
}

std::vector<std::string> joined(const std::vector<std::string>& heads,
                                const std::vector<std::string>& tails) {
  std::vector<std::string> all;
  for (const std::string& head : heads) {
    for (const std::string& tail : tails) all.push_back(head + tail);
  }
  return all;
}

}  // namespace

std::vector<std::string> parse_host_list(std::string_view text, std::size_t most) {
  std::vector<std::string> all;
  for (const std::string_view item : items_of(text)) {
    if (item.empty()) refuse(text, "a name is empty");
    if (item.size() > longest_name) refuse(text.substr(0, 40), "a name is too long");
    std::vector<std::string> names = {""};
    for (std::size_t at = 0; at < item.size();) {
      const std::size_t open = item.find('[', at);
      for (std::string& name : names) name += item.substr(at, open - at);
      if (open == std::string_view::npos) break;
      const std::size_t close = item.find(']', open);
      const auto tails = numbers_of(item.substr(open + 1, close - open - 1), text, most);
      if (names.size() * tails.size() > most) refuse(text, "too many");
      names = joined(names, tails);
      at = close + 1;
    }
    if (all.size() + names.size() > most) refuse(text, "too many");
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

}  // namespace huddle::fabric
