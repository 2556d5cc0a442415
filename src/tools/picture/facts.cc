// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <cmath>

#include "common/text.h"
#include "model/machine/infer.h"
#include "model/machine/machine.h"

namespace huddle::picture {
namespace {

bool is_cache(std::string_view level) {
  return level.size() == 2 && level[0] == 'l' &&
         std::isdigit(static_cast<unsigned char>(level[1])) != 0;
}

// Rounds memory to whole units, because fractions as in "62.8G" come from the firmware.
std::string memory_size(std::uint64_t bytes) {
  constexpr double giga = 1024.0 * 1024 * 1024;
  const double size = static_cast<double>(bytes);
  return size_text(size >= giga ? std::round(size / giga) * giga : size);
}

}  // namespace

std::string level_title(std::string_view level) {
  if (is_cache(level)) return fmt::format("L{}", level[1]);
  if (level == "numa") return "NUMA";
  return std::string(level);
}

std::string memory_title(const machine::NumaNode& node) {
  std::string title = fmt::format("NUMA {}", node.number);
  if (!node.kind.empty() && node.kind != "dram") title += " " + node.kind;
  if (node.bytes > 0) title += " " + memory_size(node.bytes);
  return title;
}

std::string group_title(const machine::Topology& topology, const machine::Level& level,
                        std::size_t group) {
  if (level.name == "numa") {
    const auto node = std::find_if(topology.numa.begin(), topology.numa.end(), [&](const auto& n) {
      return !n.memory_only && n.cpus == level.groups[group];
    });
    if (node != topology.numa.end()) return memory_title(*node);
  }
  if (is_cache(level.name) && !level.bytes.empty() && level.bytes[group] > 0) {
    return fmt::format("{} {}", level_title(level.name),
                       size_text(static_cast<double>(level.bytes[group])));
  }
  if (is_cache(level.name)) return level_title(level.name);
  return fmt::format("{} {}", level_title(level.name), group);
}

std::string group_shape(const machine::Level& level, std::size_t group) {
  if (level.bytes.empty()) return level.name;
  return fmt::format("{} {}", level.name, level.bytes[group]);
}

namespace {

using machine::Machine;
using machine::Origin;

std::string plural(int count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

template <typename Entries>
bool has_published(const Entries& entries) {
  return std::any_of(entries.begin(), entries.end(),
                     [](const auto& entry) { return entry.origin == Origin::published; });
}

bool any_published(const Machine& machine) {
  return has_published(machine.line) || has_published(machine.copy) ||
         has_published(machine.handoff) || has_published(machine.memory) ||
         has_published(machine.paths) || has_published(machine.system) ||
         has_published(machine.networks);
}

std::string in_parentheses(const std::string& text) {
  return text.empty() ? std::string() : " (" + text + ")";
}

// Distinguishes partial calibrations: with few allowed hardware threads, a calibration cannot
// measure every level.
std::string measured_line(const Machine& machine) {
  const machine::Provenance& provenance = machine.provenance;
  const bool every_level = std::all_of(
      machine.line.begin(), machine.line.end(),
      [](const machine::LineCost& line) { return line.origin == machine::Origin::measured; });
  std::string text = every_level ? "calibrated: measured" : "partly calibrated: measured";
  if (!provenance.date.empty()) text += " " + provenance.date.substr(0, 10);
  if (!provenance.tool.empty()) text += " by " + provenance.tool;
  if (calibration_of(machine) == machine::Calibration::quick) text += ", a quick run";
  return text;
}

}  // namespace

std::string machine_title(const Machine& machine) {
  if (!machine.name.empty()) return machine.name;
  return machine.topology.cpu_model.empty() ? "this machine" : machine.topology.cpu_model;
}

std::string machine_line(const Machine& machine) {
  const machine::Topology& topology = machine.topology;
  // The title may already contain the processor's name.
  const bool new_word = !topology.cpu_model.empty() && topology.cpu_model != machine_title(machine);
  return fmt::format("{}{}, {}, fingerprint {}", new_word ? topology.cpu_model + ", " : "",
                     plural(core_count(topology), "core"),
                     plural(topology.pus.count(), "hardware thread"), fingerprint(topology));
}

std::string calibration_line(const Subject& subject) {
  const Machine& machine = subject.machine;
  const std::string file = in_parentheses(subject.path);
  if (calibrated(machine)) return measured_line(machine) + file;
  if (any_published(machine)) {
    return "not measured by huddle: published figures, the others estimated" + file;
  }
  if (!subject.path.empty()) return "uncalibrated: every figure is an estimate" + file;
  return fmt::format("uncalibrated: generic figures{}",
                     subject.measurable ? "; run 'huddle calibrate'" : "");
}

std::string latency_origin(const Machine& machine) {
  if (machine.pairs && machine.pairs->pus.size() > 1) {
    return "measured" + in_parentheses(machine.pairs->sampling);
  }
  const auto has = [&machine](Origin origin) {
    return std::any_of(machine.line.begin(), machine.line.end(),
                       [origin](const machine::LineCost& line) { return line.origin == origin; });
  };
  if (!has(Origin::measured)) {
    return has(Origin::published) ? "published or estimated, not measured"
                                  : "estimated, not measured";
  }
  return has(Origin::published) || has(Origin::estimated)
             ? "measured for some shared levels, estimated for the others"
             : "measured for each shared level";
}

namespace {

struct Figures {
  std::size_t all = 0;
  std::size_t measured = 0;
};

template <typename Entries>
void add_figures(Figures& figures, const Entries& entries) {
  figures.all += entries.size();
  figures.measured +=
      static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), [](const auto& entry) {
        return entry.origin == Origin::measured;
      }));
}

// Counts the entries of the machine file that describe the node.
Figures figures_of(const Machine& machine) {
  Figures figures;
  add_figures(figures, machine.line);
  add_figures(figures, machine.copy);
  add_figures(figures, machine.copy_past_caches);
  add_figures(figures, machine.handoff);
  add_figures(figures, machine.memory);
  add_figures(figures, machine.paths);
  add_figures(figures, machine.system);
  add_figures(figures, machine.arrays);
  return figures;
}

std::string measured_origin(const Machine& machine) {
  const Figures figures = figures_of(machine);
  if (figures.measured == figures.all) return "all figures of the machine file were measured";
  return fmt::format("{} of {} entries of the machine file were measured, the others were not",
                     figures.measured, figures.all);
}

}  // namespace

std::string figures_origin(const Subject& subject) {
  const Machine& machine = subject.machine;
  std::string text = "Origin of the figures: ";
  if (calibrated(machine)) return text + measured_origin(machine);
  if (subject.path.empty()) {
    return text + "generic estimates, the same for every machine with these levels";
  }
  const machine::Provenance& provenance = machine.provenance;
  text += provenance.method.empty() ? "not stated in the machine file" : provenance.method;
  if (!provenance.sources.empty()) {
    text += fmt::format(". Sources: {}", fmt::join(provenance.sources, "; "));
  }
  return text;
}

std::vector<LevelRow> level_rows(const Machine& machine) {
  std::vector<LevelRow> rows = {{"shared level", "one way", "shared line", "spread", "origin"}};
  for (const machine::LineCost& line : machine.line) {
    const std::string_view origin = machine::origin_names[static_cast<std::size_t>(line.origin)];
    rows.push_back({level_title(line.level), time_text(line.one_way_ns),
                    line.shared_ns > 0 ? time_text(line.shared_ns) : "-",
                    line.spread > 0 ? fmt::format("{:.0f} %", 100 * line.spread) : "-",
                    std::string(origin)});
  }
  return rows;
}

std::vector<std::string> latency_differences(const Machine& machine) {
  if (!machine.pairs || machine.pairs->pus.size() < 2) return {};
  return differences(machine::infer_levels(*machine.pairs), machine.topology);
}

}  // namespace huddle::picture
