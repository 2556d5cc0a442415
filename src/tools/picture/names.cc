// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "common/text.h"

namespace huddle::picture {
namespace {

bool is_cache(std::string_view level) {
  return level.size() == 2 && level[0] == 'l' &&
         std::isdigit(static_cast<unsigned char>(level[1])) != 0;
}

// Memory is told in whole units: "62.8G" says more about firmware than about the machine.
std::string memory_size(std::uint64_t bytes) {
  constexpr double giga = 1024.0 * 1024 * 1024;
  const double size = static_cast<double>(bytes);
  return size_text(size >= giga ? std::round(size / giga) * giga : size);
}

}  // namespace

std::string level_title(std::string_view level) {
  if (is_cache(level)) return fmt::format("L{}", level[1]);
  if (level == "numa") return "NUMA";
  return std::string(level);
}

std::string memory_title(const machine::NumaNode& node) {
  std::string title = fmt::format("NUMA {}", node.number);
  if (!node.kind.empty() && node.kind != "dram") title += " " + node.kind;
  if (node.bytes > 0) title += " " + memory_size(node.bytes);
  return title;
}

std::string group_title(const machine::Topology& topology, const machine::Level& level,
                        std::size_t group) {
  if (level.name == "numa") {
    const auto node = std::find_if(topology.numa.begin(), topology.numa.end(), [&](const auto& n) {
      return !n.memory_only && n.cpus == level.groups[group];
    });
    if (node != topology.numa.end()) return memory_title(*node);
  }
  if (is_cache(level.name) && !level.bytes.empty() && level.bytes[group] > 0) {
    return fmt::format("{} {}", level_title(level.name),
                       size_text(static_cast<double>(level.bytes[group])));
  }
  if (is_cache(level.name)) return level_title(level.name);
  return fmt::format("{} {}", level_title(level.name), group);
}

std::string group_shape(const machine::Level& level, std::size_t group) {
  if (level.bytes.empty()) return level.name;
  return fmt::format("{} {}", level.name, level.bytes[group]);
}

}  // namespace huddle::picture
