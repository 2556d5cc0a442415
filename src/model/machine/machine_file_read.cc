// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Parses machine files.
#include <fmt/format.h>

#include <limits>
#include <map>

#include "common/error.h"
#include "common/file.h"
#include "model/machine/machine_file.h"
#include "model/machine/toml_reader.h"

namespace huddle::machine {
namespace {

constexpr long long largest_count = std::numeric_limits<long long>::max();

template <std::size_t n>
std::vector<std::string> words(const std::array<std::string_view, n>& names) {
  return {names.begin(), names.end()};
}

// Runs `read` and adds the place of the key to its errors.
template <typename Read>
auto at_key(const TomlTable& table, const std::string& key, Read read) {
  try {
    return read();
  } catch (const InputError& error) {
    table.refuse(key, error.what());
  }
}

CpuSet cpus(TomlTable& table, const std::string& key) {
  const std::string list = table.text(key);
  return at_key(table, key, [&list] { return CpuSet::parse(list); });
}

Origin origin(TomlTable& table, const std::string& key = "origin") {
  return static_cast<Origin>(table.word(key, words(origin_names)));
}

Curve curve(TomlTable& table) {
  return {table.numbers("bytes"), table.numbers("ns"), table.numbers_or_none("spread")};
}

// The tables of each section. They know their lines, so errors of a later validation can name them.
using Lines = std::map<std::string, std::vector<TomlTable>>;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name)
      : document_(TomlTable::parse(text, name)) {}

  Machine read() {
    check_schema();
    machine_.name = document_.text("name");
    machine_.line_bytes = static_cast<int>(document_.integer_or("line_bytes", 8, 4096, 64));
    read_one("provenance", [this](TomlTable& table) { read_provenance(table); });
    if (!document_.has("topology")) document_.refuse("", "'[topology]' is missing");
    read_one("topology", [this](TomlTable& table) { read_topology(table); });
    read_one("pairs", [this](TomlTable& table) { read_pairs(table); });
    read_one("outstanding_misses", [this](TomlTable& table) {
      machine_.outstanding_misses = {static_cast<int>(table.integer("per_core", 1, 1 << 20)),
                                     origin(table)};
    });
    read_entries();
    document_.finish();
    check();
    return std::move(machine_);
  }

 private:
  void check_schema() {
    const long long schema = document_.integer("schema", 1, largest_count);
    if (schema > machine_file_schema) {
      document_.refuse(
          "schema",
          fmt::format("written by a newer version of huddle (schema {}; this one reads up to {})",
                      schema, machine_file_schema));
    }
  }

  template <typename ReadTable>
  void read_one(const std::string& key, ReadTable read_table) {
    std::optional<TomlTable> table = document_.table(key);
    if (!table) return;
    read_table(*table);
    table->finish();
    places_[key].push_back(std::move(*table));
  }

  template <typename Entry, typename ReadEntry>
  void read_many(const std::string& key, std::vector<Entry>& entries, ReadEntry read_entry) {
    for (TomlTable& table : document_.tables(key)) {
      entries.push_back(read_entry(table));
      table.finish();
      places_[key].push_back(std::move(table));
    }
  }

  void read_provenance(TomlTable& table) {
    Provenance& provenance = machine_.provenance;
    provenance.tool = table.text_or("tool", "");
    provenance.date = table.text_or("date", "");
    provenance.kernel = table.text_or("kernel", "");
    provenance.governor = table.text_or("governor", "");
    provenance.smt = table.text_or("smt", "");
    provenance.numa_balancing = table.text_or("numa_balancing", "");
    provenance.hypervisor = table.text_or("hypervisor", "");
    provenance.method = table.text_or("method", "");
    provenance.sources = table.texts_or_none("sources");
  }

  void read_topology(TomlTable& table);
  Level read_level(TomlTable& table) const;
  void read_numa_distances(TomlTable& table);
  void read_pairs(TomlTable& table);
  void read_entries();
  void check();

  TomlTable document_;
  Machine machine_;
  Lines places_;
};

Level Reader::read_level(TomlTable& table) const {
  Level level;
  level.name = table.text("name");
  int left = machine_.topology.pus.count();
  for (const std::string& list : table.texts("groups")) {
    level.groups.push_back(at_key(table, "groups", [&list] { return CpuSet::parse(list); }));
    left -= level.groups.back().count();
    if (left < 0) {
      table.refuse(
          "groups",
          fmt::format("level {} contains more hardware threads than the machine has", level.name));
    }
  }
  for (const double bytes : table.numbers_or_none("bytes")) {
    if (bytes < 0 || bytes > 1e15)
      table.refuse("bytes", fmt::format("a cache cannot have {} bytes", bytes));
    level.bytes.push_back(static_cast<std::uint64_t>(bytes));
  }
  return level;
}

void Reader::read_numa_distances(TomlTable& table) {
  for (const std::vector<double>& row : table.number_rows_or_none("numa_distances")) {
    for (const double distance : row) {
      if (distance <= 0 || distance > 1e6) {
        table.refuse("numa_distances", fmt::format("a distance cannot be {}", distance));
      }
      machine_.topology.numa_distances.push_back(distance);
    }
  }
}

void Reader::read_topology(TomlTable& table) {
  Topology& topology = machine_.topology;
  topology.cpu_model = table.text_or("cpu_model", "");
  topology.pus = cpus(table, "pus");
  if (topology.pus.empty()) table.refuse("pus", "a machine requires at least one hardware thread");
  if (table.has("offline")) topology.offline = cpus(table, "offline");
  for (TomlTable& level : table.tables("level")) {
    topology.levels.push_back(read_level(level));
    level.finish();
    places_["topology.level"].push_back(std::move(level));
  }
  for (TomlTable& entry : table.tables("numa")) {
    NumaNode node;
    node.number = static_cast<int>(entry.integer("number", 0, 1 << 20));
    node.cpus = cpus(entry, "cpus");
    node.bytes = static_cast<std::uint64_t>(entry.integer_or("bytes", 0, largest_count, 0));
    node.memory_only = entry.boolean_or("memory_only", false);
    node.kind = entry.text_or("kind", "");
    entry.finish();
    topology.numa.push_back(std::move(node));
    places_["topology.numa"].push_back(std::move(entry));
  }
  for (TomlTable& entry : table.tables("kind")) {
    CoreKind kind;
    kind.name = entry.text("name");
    kind.efficiency = static_cast<int>(entry.integer("efficiency", -1, 1 << 20));
    kind.cpus = cpus(entry, "cpus");
    entry.finish();
    topology.kinds.push_back(std::move(kind));
  }
  read_numa_distances(table);
}

// Reads the lower triangle of the matrix; row i has i latencies.
void Reader::read_pairs(TomlTable& table) {
  LinePairs pairs;
  pairs.pus = cpus(table, "pus").cpus();
  pairs.sampling = table.text_or("sampling", "");
  const std::vector<std::vector<double>> rows = table.number_rows_or_none("one_way_ns");
  const std::size_t n = pairs.pus.size();
  if (rows.size() != n) {
    table.refuse("one_way_ns",
                 fmt::format("pairs of {} hardware threads require {} rows, but there are {}", n, n,
                             rows.size()));
  }
  pairs.one_way_ns.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (rows[i].size() != i) {
      table.refuse("one_way_ns",
                   fmt::format("row {} must have {} latencies, but has {}", i, i, rows[i].size()));
    }
    for (std::size_t j = 0; j < i; ++j) {
      pairs.one_way_ns[i * n + j] = pairs.one_way_ns[j * n + i] = rows[i][j];
    }
  }
  machine_.pairs = std::move(pairs);
}

int copiers(TomlTable& table) { return static_cast<int>(table.integer("copiers", 1, 1 << 20)); }

LineCost line_cost(TomlTable& table) {
  LineCost cost;
  cost.level = table.text("level");
  cost.one_way_ns = table.number("one_way_ns");
  cost.shared_ns = table.number("shared_ns");
  cost.reader_step_ns = table.number("reader_step_ns");
  cost.writer_step_ns = table.number("writer_step_ns");
  if (table.has("load_step_ns")) cost.load_step_ns = table.number("load_step_ns");
  cost.spread = table.number_or("spread", 0);
  cost.origin = origin(table);
  if (table.has("steps_origin")) cost.steps_origin = origin(table, "steps_origin");
  if (table.has("shared_origin")) cost.shared_origin = origin(table, "shared_origin");
  return cost;
}

CopyCurve copy_curve_in(TomlTable& table) {
  return {table.text("level"), copiers(table), curve(table), origin(table)};
}

// Reads a kind by its current or former name.
HandoffKind handoff_kind_in(TomlTable& table) {
  const std::string name = table.text("kind");
  for (std::size_t i = 0; i < handoff_facts.size(); ++i) {
    if (!name.empty() && name == handoff_facts[i].former_name) return static_cast<HandoffKind>(i);
  }
  return static_cast<HandoffKind>(table.word("kind", words(handoff_names)));
}

HandoffCurve handoff_curve(TomlTable& table) {
  return {table.text("level"), handoff_kind_in(table), curve(table), origin(table)};
}

MemoryCost memory_cost(TomlTable& table) {
  return {table.text("level"), table.number("load_ns"), table.number("copy_factor"), origin(table)};
}

PathCurve path_curve(TomlTable& table) {
  return {table.text("path"), copiers(table), curve(table), origin(table),
          table.text_or("level", "")};
}

SystemCost system_cost(TomlTable& table) {
  return {static_cast<SystemCall>(table.word("call", words(system_call_names))), table.number("ns"),
          table.number_or("spread", 0), origin(table)};
}

ArrayCost array_cost(TomlTable& table) {
  return {static_cast<ArrayPlace>(table.word("place", words(array_place_names))),
          table.number("load_ns"), table.number("stream_ns"), table.number_or("spread", 0),
          origin(table)};
}

Network network(TomlTable& table) {
  Network network{table.text("name"),
                  static_cast<int>(table.integer("rails", 1, 1 << 20)),
                  curve(table),
                  table.number("gap_ns"),
                  table.number("node_gb_per_s"),
                  origin(table),
                  table.number_or("cpu_ns", 0)};
  if (table.has("rendezvous_bytes")) network.rendezvous_bytes = table.number("rendezvous_bytes");
  if (table.has("both_ways")) network.both_ways = table.number("both_ways");
  if (table.has("piece_bytes")) network.piece_bytes = table.number("piece_bytes");
  return network;
}

MpiCollective mpi_collective(TomlTable& table) {
  const auto operation = static_cast<std::size_t>(table.word("operation", words(collective_names)));
  return {table.text("mpi"),
          std::string(collective_names[operation]),
          static_cast<int>(table.integer("hosts", 2, 1 << 20)),
          static_cast<int>(table.integer("ranks", 2, 1 << 30)),
          table.boolean_or("in_order", true),
          curve(table),
          origin(table)};
}

Doubt doubt(TomlTable& table) { return {table.text("what"), table.text("why")}; }

void Reader::read_entries() {
  read_many("line", machine_.line, line_cost);
  read_many("copy", machine_.copy, copy_curve_in);
  read_many("copy_past_caches", machine_.copy_past_caches, copy_curve_in);
  read_many("handoff", machine_.handoff, handoff_curve);
  read_many("memory", machine_.memory, memory_cost);
  read_many("path", machine_.paths, path_curve);
  read_many("system", machine_.system, system_cost);
  read_many("array", machine_.arrays, array_cost);
  read_many("network", machine_.networks, network);
  read_many("mpi_collective", machine_.mpi_collectives, mpi_collective);
  read_many("doubt", machine_.doubts, doubt);
}

void Reader::check() {
  try {
    validate(machine_);
  } catch (const Flaw& flaw) {
    const auto places = places_.find(flaw.section());
    if (places == places_.end() || flaw.index() >= places->second.size()) {
      document_.refuse("", flaw.what());
    }
    places->second[flaw.index()].refuse("", flaw.what());
  }
}

}  // namespace

Machine parse_machine(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

Machine read_machine_file(const std::string& path) {
  return parse_machine(read_text(path), input_name(path));
}

}  // namespace huddle::machine
