// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Formats and writes machine files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/file.h"
#include "model/machine/machine_file.h"

namespace huddle::machine {
namespace {

// Returns a TOML string with quotes, backslashes and control characters escaped.
std::string toml_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string toml_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  parts.reserve(texts.size());
  for (const std::string& text : texts) parts.push_back(toml_text(text));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

// fmt formats a double as the shortest text that parses to the same value.
template <typename Number>
std::string toml_list(const std::vector<Number>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

class Writer {
 public:
  std::string write(const Machine& machine) {
    line("# A machine file of huddle: the cost of communication on this kind of machine.\n");
    line("# Times in nanoseconds, sizes in bytes. Format: docs/machine-file.md");
    key("schema", machine_file_schema);
    key("name", toml_text(machine.name));
    key("line_bytes", machine.line_bytes);
    write_provenance(machine.provenance);
    write_topology(machine.topology);
    for (const LineCost& cost : machine.line) write_line(cost);
    if (machine.pairs) write_pairs(*machine.pairs);
    if (machine.outstanding_misses) {
      line("\n[outstanding_misses]");
      key("per_core", machine.outstanding_misses->per_core);
      origin_key(machine.outstanding_misses->origin);
    }
    write_curves(machine);
    write_scalars(machine);
    for (const Doubt& doubt : machine.doubts) {
      line("\n[[doubt]]");
      key("what", toml_text(doubt.what));
      key("why", toml_text(doubt.why));
    }
    return std::move(text_);
  }

 private:
  void line(std::string_view text) { text_ += fmt::format("{}\n", text); }
  template <typename Value>
  void key(std::string_view name, const Value& value) {
    text_ += fmt::format("{} = {}\n", name, value);
  }
  void text_key_if_any(std::string_view name, const std::string& value) {
    if (!value.empty()) key(name, toml_text(value));
  }
  void origin_key(Origin origin, std::string_view name = "origin") {
    key(name, toml_text(origin_names[static_cast<std::size_t>(origin)]));
  }
  void curve_keys(const Curve& curve) {
    key("bytes", toml_list(curve.bytes));
    key("ns", toml_list(curve.ns));
    if (!curve.spread.empty()) key("spread", toml_list(curve.spread));
  }

  void write_provenance(const Provenance& provenance);
  void write_topology(const Topology& topology);
  void write_line(const LineCost& cost);
  void write_pairs(const LinePairs& pairs);
  void write_copies(std::string_view table, const std::vector<CopyCurve>& copies);
  void write_curves(const Machine& machine);
  void write_scalars(const Machine& machine);

  std::string text_;
};

void Writer::write_provenance(const Provenance& provenance) {
  line("\n[provenance]");
  text_key_if_any("tool", provenance.tool);
  text_key_if_any("date", provenance.date);
  text_key_if_any("kernel", provenance.kernel);
  text_key_if_any("governor", provenance.governor);
  text_key_if_any("smt", provenance.smt);
  text_key_if_any("numa_balancing", provenance.numa_balancing);
  text_key_if_any("hypervisor", provenance.hypervisor);
  text_key_if_any("method", provenance.method);
  if (!provenance.sources.empty()) key("sources", toml_texts(provenance.sources));
}

void Writer::write_topology(const Topology& topology) {
  line("\n[topology]");
  text_key_if_any("cpu_model", topology.cpu_model);
  key("pus", toml_text(topology.pus.text()));
  text_key_if_any("offline", topology.offline.text());
  if (!topology.numa_distances.empty()) {
    std::vector<std::string> rows;
    const std::size_t n = topology.numa.size();
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = topology.numa_distances.begin() + static_cast<std::ptrdiff_t>(i * n);
      rows.push_back(toml_list(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(n))));
    }
    key("numa_distances", toml_list(rows));
  }
  for (const Level& level : topology.levels) {
    line("\n[[topology.level]]");
    key("name", toml_text(level.name));
    std::vector<std::string> groups;
    for (const CpuSet& group : level.groups) groups.push_back(group.text());
    key("groups", toml_texts(groups));
    if (!level.bytes.empty()) key("bytes", toml_list(level.bytes));
  }
  for (const NumaNode& node : topology.numa) {
    line("\n[[topology.numa]]");
    key("number", node.number);
    key("cpus", toml_text(node.cpus.text()));
    key("bytes", node.bytes);
    if (node.memory_only) key("memory_only", true);
    text_key_if_any("kind", node.kind);
  }
  for (const CoreKind& kind : topology.kinds) {
    line("\n[[topology.kind]]");
    key("name", toml_text(kind.name));
    key("efficiency", kind.efficiency);
    key("cpus", toml_text(kind.cpus.text()));
  }
}

void Writer::write_line(const LineCost& cost) {
  line("\n[[line]]");
  key("level", toml_text(cost.level));
  key("one_way_ns", cost.one_way_ns);
  key("shared_ns", cost.shared_ns);
  key("reader_step_ns", cost.reader_step_ns);
  key("writer_step_ns", cost.writer_step_ns);
  if (cost.load_step_ns) key("load_step_ns", *cost.load_step_ns);
  key("spread", cost.spread);
  origin_key(cost.origin);
  origin_key(cost.steps_origin, "steps_origin");
  if (cost.shared_origin) origin_key(*cost.shared_origin, "shared_origin");
}

void Writer::write_pairs(const LinePairs& pairs) {
  line("\n[pairs]");
  key("pus", toml_text(CpuSet(pairs.pus).text()));
  text_key_if_any("sampling", pairs.sampling);
  const std::size_t n = pairs.pus.size();
  line("one_way_ns = [");
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = pairs.one_way_ns.begin() + static_cast<std::ptrdiff_t>(i * n);
    line(fmt::format("  {},",
                     toml_list(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(i)))));
  }
  line("]");
}

void Writer::write_copies(std::string_view table, const std::vector<CopyCurve>& copies) {
  for (const CopyCurve& copy : copies) {
    line(fmt::format("\n[[{}]]", table));
    key("level", toml_text(copy.level));
    key("copiers", copy.copiers);
    origin_key(copy.origin);
    curve_keys(copy.curve);
  }
}

void Writer::write_curves(const Machine& machine) {
  write_copies("copy", machine.copy);
  write_copies("copy_past_caches", machine.copy_past_caches);
  for (const HandoffCurve& handoff : machine.handoff) {
    line("\n[[handoff]]");
    key("level", toml_text(handoff.level));
    key("kind", toml_text(handoff_names[static_cast<std::size_t>(handoff.kind)]));
    origin_key(handoff.origin);
    curve_keys(handoff.curve);
  }
  for (const PathCurve& path : machine.paths) {
    line("\n[[path]]");
    key("path", toml_text(path.path));
    key("copiers", path.copiers);
    if (!path.level.empty()) key("level", toml_text(path.level));
    origin_key(path.origin);
    curve_keys(path.curve);
  }
}

void Writer::write_scalars(const Machine& machine) {
  for (const MemoryCost& cost : machine.memory) {
    line("\n[[memory]]");
    key("level", toml_text(cost.level));
    key("load_ns", cost.load_ns);
    key("copy_factor", cost.copy_factor);
    origin_key(cost.origin);
  }
  for (const SystemCost& cost : machine.system) {
    line("\n[[system]]");
    key("call", toml_text(system_call_names[static_cast<std::size_t>(cost.call)]));
    key("ns", cost.ns);
    key("spread", cost.spread);
    origin_key(cost.origin);
  }
  for (const ArrayCost& cost : machine.arrays) {
    line("\n[[array]]");
    key("place", toml_text(array_place_names[static_cast<std::size_t>(cost.place)]));
    key("load_ns", cost.load_ns);
    key("stream_ns", cost.stream_ns);
    key("spread", cost.spread);
    origin_key(cost.origin);
  }
  for (const Network& network : machine.networks) {
    line("\n[[network]]");
    key("name", toml_text(network.name));
    key("rails", network.rails);
    key("gap_ns", network.gap_ns);
    key("node_gb_per_s", network.node_gb_per_s);
    key("cpu_ns", network.cpu_ns);
    if (network.rendezvous_bytes) key("rendezvous_bytes", *network.rendezvous_bytes);
    if (network.both_ways) key("both_ways", *network.both_ways);
    if (network.piece_bytes) key("piece_bytes", *network.piece_bytes);
    origin_key(network.origin);
    curve_keys(network.curve);
  }
  for (const MpiCollective& collective : machine.mpi_collectives) {
    line("\n[[mpi_collective]]");
    key("mpi", toml_text(collective.mpi));
    key("operation", toml_text(collective.operation));
    key("hosts", collective.hosts);
    key("ranks", collective.ranks);
    if (!collective.in_order) key("in_order", false);
    origin_key(collective.origin);
    curve_keys(collective.curve);
  }
}

}  // namespace

std::string format_machine(const Machine& machine) { return Writer().write(machine); }

void write_machine_file(const Machine& machine, const std::string& path) {
  write_text(format_machine(machine), path);
}

}  // namespace huddle::machine
