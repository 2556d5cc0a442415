// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Machines with a known tree of levels, for the tests of inference.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "sampler.h"

namespace huddle::machine {

inline std::string shape(const Cluster& cluster) {
  if (cluster.children.empty()) return "(" + cluster.cpus.text() + ")";
  std::string text = "(" + cluster.cpus.text() + ":";
  for (const Cluster& child : cluster.children) text += " " + shape(child);
  return text + ")";
}

struct Kind {
  std::string name;
  std::function<Hidden(const Ratio&)> make;
};

inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

inline Hidden two_sockets(const Ratio& ratio) {
  const Hidden l3 = cores(8, 20);
  const Hidden numa = around({l3, l3}, ratio);
  const Hidden socket = around({numa, numa, numa, numa}, ratio);
  return around({socket, socket}, ratio);
}

inline Hidden twelve_dies(const Ratio& ratio) {
  return around(std::vector<Hidden>(12, cores(8, 20)), ratio);
}

// Eight single performance cores and three clusters of four efficient cores.
inline Hidden hybrid(const Ratio& ratio) {
  return around({cores(4, 25), cores(4, 25), cores(4, 25)}, ratio, 8);
}

// Clusters with unrelated inner latencies, for which no single threshold works.
inline Hidden hybrid_of_unequal_halves(const Ratio& ratio) {
  const Hidden fast = cores(6, 12);
  const Hidden modules = around({cores(4, 25), cores(4, 25)}, ratio);
  return around({fast, modules, cores(3, 55)}, ratio, 1);
}

inline Hidden efficient_pairs(const Ratio& ratio) {
  return around({cores(2, 25), cores(2, 25), cores(2, 25), cores(2, 25)}, ratio, 6);
}

// A socket with a dead die, one with a single die, and dies with disabled cores.
inline Hidden uneven(const Ratio& ratio) {
  const Hidden full = around({cores(8, 20), cores(7, 20), cores(8, 20), cores(5, 20)}, ratio);
  const Hidden lame = around({cores(8, 20), cores(2, 20), cores(8, 20)}, ratio);
  return around({full, lame, cores(6, 30)}, ratio);
}

inline Hidden flat(const Ratio& ratio) {
  (void)ratio;
  return cores(32, 50);
}

inline Hidden two_cores(const Ratio& ratio) {
  (void)ratio;
  return cores(2, 50);
}

inline Hidden three_cores(const Ratio& ratio) { return around({cores(2, 20)}, ratio, 1); }

inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{"two_sockets", two_sockets},
                                        {"twelve_dies", twelve_dies},
                                        {"hybrid", hybrid},
                                        {"hybrid_of_unequal_halves", hybrid_of_unequal_halves},
                                        {"efficient_pairs", efficient_pairs},
                                        {"uneven", uneven},
                                        {"flat", flat},
                                        {"two_cores", two_cores},
                                        {"three_cores", three_cores}};
  return all;
}

}  // namespace huddle::machine
