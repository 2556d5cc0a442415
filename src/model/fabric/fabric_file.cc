// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/fabric/fabric_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "model/fabric/fabric.h"
#include "model/fabric/topology_conf.h"
#include "model/machine/machine_file.h"
#include "model/machine/toml_reader.h"

namespace huddle::fabric {
namespace {

// Fabric files are in a subfolder of the machine files, which they name by relative paths.
constexpr const char* fabrics_folder = "machines/fabrics";

}  // namespace

std::vector<machine::NamedMachine> named_fabrics() { return machine::named_files(fabrics_folder); }

std::string fabric_file_named(const std::string& named) {
  if (named == standard_input || is_toml_path(named) || named.ends_with(".conf")) return named;
  std::vector<std::string> names;
  for (const machine::NamedMachine& fabric : named_fabrics()) {
    if (fabric.name == named) return fabric.path;
    names.push_back(fabric.name);
  }
  const std::string guess = did_you_mean(named, names);
  throw InputError(fmt::format("unknown fabric '{}'{}", printable(named),
                               guess.empty()
                                   ? fmt::format("; use one of {}, or the path of a file: ./{}",
                                                 fmt::join(names, ", "), printable(named))
                                   : guess));
}

namespace {

using machine::TomlTable;

constexpr double fastest_gb_per_s = 1e6;
constexpr double longest_ns = 3.6e12;
constexpr int most_parallel = 1 << 16;

// A [[level]]: each of its switches has `of` children, which are switches of the previous level or,
// at the first level, nodes.
struct Level {
  std::string name;
  int of = 1;
  Wiring wiring = Wiring::through;
  Links links;  // of each child
};

class FabricFileReader {
 public:
  FabricFileReader(std::string_view text, const std::string& name)
      : document_(TomlTable::parse(text, name)) {}

  Fabric read() {
    const long long schema = document_.integer("schema", 1, std::numeric_limits<long long>::max());
    if (schema > fabric_file_schema) {
      document_.refuse(
          "schema",
          fmt::format("written by a newer version of huddle (schema {}; this one reads up to {})",
                      schema, fabric_file_schema));
    }
    fabric_.name = document_.text("name");
    fabric_.method = document_.text_or("method", "");
    fabric_.sources = document_.texts_or_none("sources");
    fabric_.machine_file = document_.text_or("machine", "");
    fabric_.network = document_.text_or("network", "");
    if (document_.has("routing")) {
      fabric_.routing =
          static_cast<Routing>(document_.word("routing", {"adaptive", "by_destination"}));
    }
    std::vector<TomlTable> levels = document_.tables("level");
    std::vector<TomlTable> switches = document_.tables("switch");
    if (levels.empty() == switches.empty()) {
      document_.refuse("", "either [[level]] (regular fabrics) or [[switch]] is required");
    }
    document_.finish();
    if (levels.empty()) {
      read_switches(switches);
    } else {
      read_levels(levels);
    }
    validate(fabric_);
    return std::move(fabric_);
  }

 private:
  static double number(TomlTable& table, const std::string& key, double least, double most) {
    const double value = table.number(key);
    if (value < least || value > most) {
      table.refuse(key, fmt::format("{} is {}, which is impossible", key, value));
    }
    return value;
  }

  static Links read_links(TomlTable& table) {
    return {static_cast<int>(table.integer_or("links", 1, most_parallel, 1)),
            number(table, "gb_per_s", 1e-9, fastest_gb_per_s),
            number(table, "latency_ns", 0, longest_ns),
            static_cast<machine::Origin>(table.word(
                "origin", {machine::origin_names.begin(), machine::origin_names.end()}))};
  }

  void read_levels(std::vector<TomlTable>& tables);
  void read_switches(std::vector<TomlTable>& tables);

  TomlTable document_;
  Fabric fabric_;
};

// Adds a switch of `levels[height]` and the whole tree below it.
void plant(const std::vector<Level>& levels, std::size_t height, int above, const std::string& name,
           Fabric& fabric) {
  const Level& level = levels[height];
  const int self = static_cast<int>(fabric.switches.size());
  const bool topmost = height + 1 == levels.size();
  fabric.switches.push_back({name, above, static_cast<int>(height), level.wiring,
                             topmost ? Links{} : levels[height + 1].links});
  if (height == 0) {
    fabric.switch_of_node.insert(fabric.switch_of_node.end(), static_cast<std::size_t>(level.of),
                                 self);
    return;
  }
  for (int i = 0; i < level.of; ++i) {
    const std::string below = levels[height - 1].name;
    plant(levels, height - 1, self,
          topmost ? fmt::format("{} {}", below, i)
                  : fmt::format("{} {}.{}", below, name.substr(name.find(' ') + 1), i),
          fabric);
  }
}

void FabricFileReader::read_levels(std::vector<TomlTable>& tables) {
  std::vector<Level> levels;
  double nodes = 1;
  double switches = 1;
  for (std::size_t height = 0; height < tables.size(); ++height) {
    TomlTable& table = tables[height];
    Level level;
    level.name = table.text("name");
    if (level.name.find(' ') != std::string::npos) {
      table.refuse("name", "the name of a level must be one word");
    }
    level.of = static_cast<int>(table.integer("of", 1, most_nodes));
    if (height > 0) {
      if (table.has("wiring")) {
        level.wiring = static_cast<Wiring>(table.word("wiring", {"through", "direct"}));
      }
      level.links = read_links(table);
      switches = switches * level.of + 1;
    }
    nodes *= level.of;
    if (height >= most_levels || nodes > most_nodes || switches > most_switches) {
      table.refuse("of", fmt::format("that are more than {} nodes, {} switches or {} levels",
                                     most_nodes, most_switches, most_levels));
    }
    if (level.wiring == Wiring::direct &&
        static_cast<double>(level.of) * level.of * level.links.count > most_nodes) {
      table.refuse("of", fmt::format("that are more than {} links between pairs", most_nodes));
    }
    table.finish();
    levels.push_back(std::move(level));
  }
  plant(levels, levels.size() - 1, -1, levels.back().name, fabric_);
}

void FabricFileReader::read_switches(std::vector<TomlTable>& tables) {
  std::vector<NamedSwitch> entries;
  std::size_t nodes_left = most_nodes;
  std::size_t switches_left = most_switches;
  for (TomlTable& table : tables) {
    NamedSwitch entry;
    entry.name = table.text("name");
    const auto names = [&table](const std::string& key, std::size_t& left) {
      if (!table.has(key)) return std::vector<std::string>();
      const std::string list = table.text(key);
      try {
        std::vector<std::string> all = parse_host_list(list, left);
        left -= all.size();
        return all;
      } catch (const InputError& error) {
        table.refuse(key, printable(error.what()));
      }
    };
    entry.nodes = names("nodes", nodes_left);
    entry.switches = names("switches", switches_left);
    // The root has no parent and therefore no links.
    if (table.has("gb_per_s")) entry.links = read_links(table);
    table.finish();
    entries.push_back(std::move(entry));
  }
  grow_tree(entries, fabric_, [&tables](std::size_t i, const std::string& why) {
    tables[i].refuse("", printable(why));
  });
  for (std::size_t i = 1; i < fabric_.switches.size(); ++i) {
    if (fabric_.switches[i].links.gb_per_s > 0) continue;
    const std::string& name = fabric_.switches[i].name;
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&name](const auto& entry) { return entry.name == name; });
    tables[static_cast<std::size_t>(found - entries.begin())].refuse(
        "", fmt::format("switch {} requires gb_per_s, latency_ns and origin of its upward links",
                        printable(name)));
  }
}

// Returns the path of the machine file, which a fabric file names relative to its own folder.
std::string beside(const std::string& fabric_path, const std::string& machine_file) {
  const std::filesystem::path named(machine_file);
  if (named.is_absolute()) return machine_file;
  return (std::filesystem::path(fabric_path).parent_path() / named).lexically_normal().string();
}

machine::Network network_of(const machine::Machine& machine, const std::string& name,
                            const std::string& who) {
  std::vector<std::string> names;
  for (const machine::Network& network : machine.networks) {
    if (network.name == name || (name.empty() && machine.networks.size() == 1)) return network;
    names.push_back(network.name);
  }
  if (names.empty()) {
    throw InputError(fmt::format(
        "{}: no [[network]], so its network cards are unknown; run 'huddle calibrate --network'",
        who));
  }
  if (name.empty()) {
    throw InputError(
        fmt::format("{}: several networks; name one of them in the fabric file (network = \"{}\")",
                    who, printable(names.front())));
  }
  throw InputError(fmt::format("{}: no network '{}'{}; use one of {}", who, printable(name),
                               did_you_mean(name, names),
                               printable(fmt::format("{}", fmt::join(names, ", ")))));
}

}  // namespace

Fabric parse_fabric(std::string_view text, const std::string& name) {
  if (looks_like_topology_conf(text)) return parse_topology_conf(text, name);
  return FabricFileReader(text, name).read();
}

Cluster load_cluster(const std::string& path, const std::string& machine_path) {
  Cluster cluster;
  cluster.path = input_name(path);
  cluster.fabric = parse_fabric(read_text(path), cluster.path);
  const Fabric& fabric = cluster.fabric;
  if (machine_path.empty() && fabric.machine_file.empty()) {
    throw InputError(fmt::format(
        "{}: the nodes are not described: name their machine file (--machine FILE)", cluster.path));
  }
  const std::string file = machine_path.empty() ? beside(path, fabric.machine_file) : machine_path;
  cluster.machine = machine::read_machine_file(file);
  // If the machine is not the fabric's own, its only network may have another name.
  const auto& networks = cluster.machine.networks;
  const bool other_name =
      !machine_path.empty() && networks.size() == 1 && networks.front().name != fabric.network;
  cluster.network = network_of(cluster.machine, other_name ? "" : fabric.network, file);
  return cluster;
}

}  // namespace huddle::fabric
