// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fuzzes the parsers of both forms of fabric files: any input either is a valid fabric or throws
// InputError. In a small fabric there is a route for every message.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "model/fabric/fabric_file.h"
#include "model/fabric/routes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace huddle;
  fabric::Fabric fabric;
  try {
    fabric = fabric::parse_fabric({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const InputError&) {
    return 0;
  }
  // An accepted fabric is valid, so nothing below may throw.
  fabric::validate(fabric);
  if (fabric.nodes() > 64 || fabric.switches.size() > 64) return 0;
  const machine::Network network = {"card", 1, {{8}, {1000}, {}}, 0, 10};
  const fabric::Routes routes(fabric, network);
  std::vector<int> links;
  for (int to = 1; to < fabric.nodes(); ++to) {
    links.clear();
    routes.path(0, to, links);
    if (links.size() < 2 || links.back() >= routes.links()) std::abort();
  }
  return 0;
}
