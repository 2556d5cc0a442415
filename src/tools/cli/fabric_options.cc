// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/fabric_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/file.h"
#include "common/text.h"
#include "model/fabric/locate.h"
#include "model/machine/locate.h"

namespace huddle::cli {

void FabricOptions::declare(Options& options) {
  options.text("--fabric", fabric_, "NAME|FILE",
               "how the nodes are connected; a fabric's name, a file, or - for standard input");
  options.complete("--fabric", Value::file);
  options.setting("machine");
  options.text("--placement", placement_, "PLACEMENT",
               "which nodes ranks get: block, round-robin (leaf switches in turn), random or "
               "random:SEED; else block");
  options.complete("--placement", Value::word,
                   {fabric::placement_names.begin(), fabric::placement_names.end()});
}

PlacementChoice FabricOptions::placement_choice() const {
  const std::size_t colon = placement_.find(':');
  const auto named = std::find(fabric::placement_names.begin(), fabric::placement_names.end(),
                               placement_.substr(0, colon));
  const std::string seed = colon == std::string::npos ? "0" : placement_.substr(colon + 1);
  const char* const end = seed.data() + seed.size();
  PlacementChoice choice;
  choice.placement = static_cast<fabric::Placement>(named - fabric::placement_names.begin());
  const auto [stop, error] = std::from_chars(seed.data(), end, choice.seed);
  const bool seed_is_out_of_place =
      colon != std::string::npos && choice.placement != fabric::Placement::random;
  if (named == fabric::placement_names.end() || error != std::errc() || stop != end ||
      seed_is_out_of_place) {
    throw UsageError(fmt::format("'{}' is no placement; there are {} and random:SEED", placement_,
                                 fmt::join(fabric::placement_names, ", ")));
  }
  return choice;
}

std::string FabricOptions::machine(const Context& context) {
  const settings::Resolved& machine = settings::find(context.settings, "machine");
  if (machine.layer != settings::Layer::command_line) return "";
  return machine.value == standard_input ? machine.value
                                         : machine::machine_file_named(machine.value);
}

bool FabricOptions::is_standard_input() const { return fabric_ == standard_input; }

std::string FabricOptions::file() const { return fabric::fabric_file_named(fabric_); }

fabric::Cluster FabricOptions::cluster(const Context& context) const {
  const std::string machine_file = machine(context);
  if (fabric_ == standard_input && machine_file == standard_input) {
    throw UsageError("--fabric and --machine cannot both be read from standard input");
  }
  return fabric::load_cluster(file(), machine_file);
}

std::vector<int> FabricOptions::nodes(const fabric::Cluster& cluster, int ranks) const {
  if (ranks > cluster.fabric.nodes()) {
    throw InputError(fmt::format("{}: too small a fabric: {} for {}, one rank a node", fabric_,
                                 counted(cluster.fabric.nodes(), "node"), counted(ranks, "rank")));
  }
  const PlacementChoice choice = placement_choice();
  return fabric::place(cluster.fabric, ranks, choice.placement, choice.seed);
}

}  // namespace huddle::cli
