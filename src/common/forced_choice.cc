// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/forced_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "common/error.h"
#include "common/text.h"

namespace huddle {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

// Returns the size that `word` denotes, or `otherwise` if it is empty. Throws an InputError that
// quotes `range`.
std::size_t limit_from(std::string_view word, std::size_t otherwise, std::string_view range) {
  if (word.empty()) return otherwise;
  if (const auto bytes = size_from(word)) return *bytes;
  throw InputError(fmt::format("'{}' is not a range of sizes; write 4K-1M, 4K- or -1M", range));
}

void read_range(ForcedChoice& choice, std::string_view range) {
  const auto ends = split(range, '-');
  if (ends.size() != 2 || range == "-") {
    throw InputError(fmt::format("'{}' is not a range of sizes; write 4K-1M, 4K- or -1M", range));
  }
  choice.least_bytes = limit_from(ends[0], 0, range);
  choice.most_bytes = limit_from(ends[1], no_limit, range);
  if (choice.least_bytes > choice.most_bytes) {
    throw InputError(fmt::format("the range '{}' is empty: its start is above its end", range));
  }
}

ForcedChoice choice_from(std::string_view item) {
  const auto parts = split(item, ':');
  const bool is_whole =
      std::none_of(parts.begin(), parts.end(), [](std::string_view part) { return part.empty(); });
  if (!is_whole || parts.size() < 2 || parts.size() > 3) {
    throw InputError(fmt::format(
        "'{}' is not of the form OP:NAME; write bcast:pipelined, or bcast:4K-1M:pipelined", item));
  }
  ForcedChoice choice{collective_word(parts.front()), std::string(parts.back())};
  std::transform(choice.algorithm.begin(), choice.algorithm.end(), choice.algorithm.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (parts.size() == 3) read_range(choice, parts[1]);
  return choice;
}

}  // namespace

std::vector<ForcedChoice> forced_choices(std::string_view text) {
  std::vector<ForcedChoice> choices;
  if (text.empty()) return choices;
  for (const std::string_view item : split(text, ',')) choices.push_back(choice_from(item));
  return choices;
}

std::string text_of(const std::vector<ForcedChoice>& choices) {
  const auto limit = [](std::size_t bytes, std::size_t where_open) {
    return bytes == where_open ? std::string() : std::to_string(bytes);
  };
  std::string text;
  for (const ForcedChoice& choice : choices) {
    if (!text.empty()) text += ',';
    text += choice.operation + ':';
    if (choice.has_range()) {
      text +=
          fmt::format("{}-{}:", limit(choice.least_bytes, 0), limit(choice.most_bytes, no_limit));
    }
    text += choice.algorithm;
  }
  return text;
}

}  // namespace huddle
