// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/legend.h"

#include <fmt/format.h>

#include "tools/picture/tree.h"

namespace huddle::picture {

std::vector<LegendItem> legend_of(const machine::Topology& topology,
                                  const std::optional<machine::CpuSet>& allowed,
                                  bool caches_are_shown) {
  std::vector<LegendItem> items;
  const int all = topology.pus.count();
  if (allowed) {
    const int ours = common(*allowed, topology.pus).count();
    items.push_back({Sign::allowed, fmt::format("{} of {} processors allowed", ours, all)});
    if (ours < all) items.push_back({Sign::other, "not allowed"});
  }
  if (!topology.offline.empty()) {
    items.push_back({Sign::offline, fmt::format("{} offline", topology.offline.count())});
  }
  const std::vector<std::string> letters = kind_letters(topology);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const machine::CoreKind& kind = topology.kinds[i];
    items.push_back({is_lesser(topology, i) ? Sign::lesser_core : Sign::core,
                     fmt::format("{} {} ({})", letters[i], kind.name, kind.cpus.text())});
  }
  if (caches_are_shown) return items;
  for (const std::string& line : own_caches(topology)) items.push_back({Sign::none, line});
  return items;
}

}  // namespace huddle::picture
