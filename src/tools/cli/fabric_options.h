// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What commands take that place ranks on a fabric: --fabric, --machine and --placement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "model/fabric/placement.h"
#include "tools/cli/command.h"

namespace huddle::cli {

struct PlacementChoice {
  fabric::Placement placement = fabric::Placement::block;
  std::uint64_t seed = 0;
};

class FabricOptions {
 public:
  void declare(Options& options);

  bool given() const { return !fabric_.empty(); }
  // Returns the file; for messages and other programs. Throws InputError for an unknown name.
  std::string file() const;
  bool is_standard_input() const;
  const std::string& placement() const { return placement_; }
  // Throws UsageError for a word that is none.
  PlacementChoice placement_choice() const;

  // Returns the file that replaces the fabric's own machine, if a flag names one: the environment
  // describes the machine on which the command runs. Throws InputError for an unknown name.
  static std::string machine(const Context& context);

  // Throws InputError. pre: given().
  fabric::Cluster cluster(const Context& context) const;
  // The node of each rank. Throws InputError where there are not so many.
  std::vector<int> nodes(const fabric::Cluster& cluster, int ranks) const;

 private:
  std::string fabric_;
  std::string placement_ = "block";
};

}  // namespace huddle::cli
