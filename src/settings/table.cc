// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The table of settings, and what follows from a row of it alone.
#include <fmt/format.h>

#include <array>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "settings/settings.h"

namespace huddle::settings {
namespace {

constexpr std::array settings_table = {
    Setting{.key = "machine",
            .kind = Kind::path,
            .placeholder = "FILE",
            .fallback = "",
            .help = "the machine file to decide by"},
    Setting{.key = "color",
            .kind = Kind::word,
            .placeholder = "auto|always|never",
            .fallback = "auto",
            .help = "colors (auto: in a terminal, without NO_COLOR)",
            .flag_everywhere = true},
    Setting{.key = "unicode",
            .kind = Kind::word,
            .placeholder = "auto|always|never",
            .fallback = "auto",
            .help = "beyond ASCII (auto: where the locale is UTF-8)",
            .flag_everywhere = true},
    Setting{.key = "progress",
            .kind = Kind::word,
            .placeholder = "auto|always|never",
            .fallback = "auto",
            .help = "progress bars (auto: in a terminal)",
            .flag_everywhere = true},
};

std::vector<std::string> allowed_words(const Setting& setting) {
  std::vector<std::string> words(1);
  for (const char c : setting.placeholder) {
    if (c == '|') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// "auto, always or never".
std::string listed(const std::vector<std::string>& words) {
  std::string text = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += (i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

}  // namespace

std::span<const Setting> table() { return settings_table; }

std::string environment_name(std::string_view key) {
  std::string name = "HUDDLE_";
  for (const char c : key) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string flag_name(std::string_view key) { return "--" + std::string(key); }

void check_value(const Setting& setting, std::string_view value, const std::string& where) {
  if (setting.kind == Kind::path) return;
  const std::vector<std::string> words = allowed_words(setting);
  for (const std::string& word : words) {
    if (word == value) return;
  }
  throw InputError(fmt::format("{} takes {}, not '{}'{}", where, listed(words), value,
                               did_you_mean(value, words)));
}

}  // namespace huddle::settings
