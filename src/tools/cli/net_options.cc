// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/net_options.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include "common/file.h"
#include "common/text.h"
#include "model/fabric/fabric_file.h"
#include "model/machine/locate.h"

namespace huddle::cli {
namespace {

// Parses a whole word as a number of ranks.
int ranks_from(std::string_view word, const std::string& text) {
  int ranks = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), ranks);
  if (error != std::errc() || end != word.data() + word.size() || ranks > most_ranks) {
    throw UsageError(fmt::format(
        "'{}' is not a number of ranks up to {}; write 8, 2..64 or 8,16,32", text, most_ranks));
  }
  if (ranks < 1) throw UsageError(fmt::format("{} ranks: at least one is required", word));
  return ranks;
}

}  // namespace

void NetCallOptions::declare(Options& options) {
  constexpr int most = most_ranks;
  options.number("--root", root_, 0, most, "RANK", "the root (default: 0)");
  options.number("--radix", radix_, 2, most, "K",
                 "a rank sends to K-1 others per round (default: 2)");
  options.number("--segments", segments_, 1, most, "COUNT",
                 "number of consecutive pieces of the data (default: 1)");
  options.number("--message-blocks", message_blocks_, 1, most, "COUNT",
                 "maximum number of blocks in a message (default: 1)");
}

schedules::Call NetCallOptions::call(int ranks) const {
  return {ranks, root_, radix_, segments_, message_blocks_};
}

std::vector<int> rank_counts_from(const std::string& text) {
  std::vector<int> counts;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dots = item.find("..");
    const int first = ranks_from(item.substr(0, dots), text);
    const int last =
        dots == std::string_view::npos ? first : ranks_from(item.substr(dots + 2), text);
    if (last < first) throw UsageError(fmt::format("'{}' ends below its start", item));
    for (int ranks = first; ranks <= last; ++ranks) counts.push_back(ranks);
    if (comma == std::string_view::npos) return counts;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<schedules::Algorithm> algorithms_from(const std::string& word) {
  if (word.find(':') != std::string::npos) return {schedules::algorithm_named(word)};
  const schedules::Operation operation = schedules::operation_named(word);
  std::vector<schedules::Algorithm> found;
  std::copy_if(schedules::algorithms().begin(), schedules::algorithms().end(),
               std::back_inserter(found), [operation](const schedules::Algorithm& algorithm) {
                 return algorithm.operation == operation;
               });
  return found;
}

std::vector<std::string> algorithm_words() {
  std::vector<std::string> words;
  for (const schedules::Algorithm& algorithm : schedules::algorithms()) {
    const std::string operation(name(algorithm.operation));
    if (std::find(words.begin(), words.end(), operation) == words.end()) words.push_back(operation);
    words.push_back(algorithm.full_name());
  }
  return words;
}

void FabricOptions::declare(Options& options) {
  options.text(
      "--fabric", fabric_, "NAME|FILE",
      "the network that connects the nodes: the name of a fabric, a file, or - for standard input");
  options.complete("--fabric", Value::file);
  options.setting("machine");
  options.text("--placement", placement_, "PLACEMENT",
               "placement of the ranks on nodes: block, round-robin (over the leaf switches), "
               "random or random:SEED (default: block)");
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
    throw UsageError(fmt::format("unknown placement '{}'; use {} or random:SEED", placement_,
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
    throw InputError(fmt::format("{}: the fabric is too small: {} for {}, with one rank per node",
                                 fabric_, counted(cluster.fabric.nodes(), "node"),
                                 counted(ranks, "rank")));
  }
  const PlacementChoice choice = placement_choice();
  return fabric::place(cluster.fabric, ranks, choice.placement, choice.seed);
}

}  // namespace huddle::cli
