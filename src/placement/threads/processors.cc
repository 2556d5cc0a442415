// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/processors.h"

#include "common/index.h"

namespace huddle::threads {

std::vector<int> processors_of(const place::SlotTree& tree, const place::Mapping& mapping) {
  std::vector<int> processors;
  for (const int slot : mapping) processors.push_back(tree.slots()[at(slot)].pu);
  return processors;
}

double way_ns(const place::Graph& counts, const place::SlotTree& tree,
              const std::vector<int>& processors) {
  double sum = 0;
  for (int v = 0; v < counts.size(); ++v) {
    const place::Graph::Row row = counts.row(v);
    const int here = tree.slot_of({0, processors[at(v)]});
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (other < v) continue;
      const int there = tree.slot_of({0, processors[at(other)]});
      if (here >= 0 && there >= 0) sum += row.bytes[i] * tree.ns(here, there);
    }
  }
  return sum;
}

}  // namespace huddle::threads
