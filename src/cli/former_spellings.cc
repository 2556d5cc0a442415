// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/former_spellings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace huddle::cli {
namespace {

// An option that has become a command of its own.
struct FormerOption {
  std::string_view command;
  std::string_view option;
  std::string_view subcommand;
};

constexpr std::array former_options = {FormerOption{"bench", "--engine", "engine"},
                                       FormerOption{"bench", "--compare", "compare"}};

}  // namespace

std::vector<std::string> spelled_today(std::vector<std::string> words, std::size_t command,
                                       const Console& console) {
  for (const FormerOption& former : former_options) {
    if (command >= words.size() || words[command] != former.command) continue;
    const auto at = std::find(words.begin(), words.end(), former.option);
    if (at == words.end()) continue;
    words.erase(at);
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(command) + 1,
                 std::string(former.subcommand));
    console.note(
        fmt::format("note: 'huddle {0} {1}' is 'huddle {0} {2}' now; the next release "
                    "will not know {1}",
                    former.command, former.option, former.subcommand));
  }
  return words;
}

}  // namespace huddle::cli
