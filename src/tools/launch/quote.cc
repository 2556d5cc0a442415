// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/quote.h"

#include <algorithm>
#include <cctype>

namespace huddle::launch {
namespace {

bool is_plain(char c) {
  constexpr std::string_view signs = "_-./,:=+@%";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         signs.find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace huddle::launch
