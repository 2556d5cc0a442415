// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/wrap.h"

#include <algorithm>
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

}  // namespace huddle::cli
