// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/export_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tools/launch/preload.h"

namespace huddle::launch {
namespace {

// Slurm takes its own words in any case.
bool is_word(std::string_view item, std::string_view word) {
  return std::equal(item.begin(), item.end(), word.begin(), word.end(), [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == b;
  });
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    items.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return items;
}

}  // namespace

std::string extended_export(std::string_view list, const std::vector<Variable>& variables,
                            const std::string& preload) {
  std::vector<std::string> items;
  std::set<std::string> let_through;
  bool all = false;
  for (std::string item : split(list)) {
    // "None" means none but Slurm's own: so does a list, which has what it names besides.
    if (is_word(item, "NONE") || is_word(item, "NIL")) continue;
    all = all || is_word(item, "ALL");
    const std::string name = item.substr(0, item.find('='));
    if (name == preload_name && name != item && !preload.empty()) {
      item = fmt::format("{}={}", name, joined_preload(preload, item.substr(name.size() + 1)));
    }
    let_through.insert(name);
    items.push_back(item);
  }
  for (const Variable& variable : variables) {
    if (!all && !let_through.contains(variable.name)) items.push_back(variable.name);
  }
  return fmt::format("{}", fmt::join(items, ","));
}

}  // namespace huddle::launch
