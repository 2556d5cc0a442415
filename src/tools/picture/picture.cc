// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/picture/picture.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <string>

#include "common/text.h"
#include "tools/picture/color.h"
#include "tools/picture/facts.h"
#include "tools/picture/grid.h"
#include "tools/picture/matrix.h"
#include "tools/picture/tree.h"

namespace huddle::picture {
namespace {

void clean(std::string& text) { text = printable(text); }

template <typename Entries>
void clean_levels(Entries& entries) {
  for (auto& entry : entries) clean(entry.level);
}

template <typename Entries>
void clean_names(Entries& entries) {
  for (auto& entry : entries) clean(entry.name);
}

void clean_topology(machine::Topology& topology) {
  clean(topology.cpu_model);
  clean_names(topology.levels);
  clean_names(topology.kinds);
  for (machine::NumaNode& node : topology.numa) clean(node.kind);
}

void clean_provenance(machine::Provenance& provenance) {
  for (std::string* text :
       {&provenance.tool, &provenance.date, &provenance.kernel, &provenance.governor,
        &provenance.smt, &provenance.numa_balancing, &provenance.hypervisor, &provenance.method}) {
    clean(*text);
  }
  for (std::string& source : provenance.sources) clean(source);
}

void clean_doubts(std::vector<machine::Doubt>& doubts) {
  for (machine::Doubt& doubt : doubts) {
    clean(doubt.what);
    clean(doubt.why);
  }
}

}  // namespace

Subject cleaned(Subject subject) {
  machine::Machine& machine = subject.machine;
  clean(subject.path);
  clean(machine.name);
  clean_topology(machine.topology);
  clean_provenance(machine.provenance);
  clean_levels(machine.line);
  clean_levels(machine.copy);
  clean_levels(machine.handoff);
  clean_levels(machine.memory);
  for (machine::PathCurve& path : machine.paths) clean(path.path);
  clean_names(machine.networks);
  if (machine.pairs) clean(machine.pairs->sampling);
  clean_doubts(machine.doubts);
  return subject;
}

namespace {

constexpr std::size_t gap = 2;

// The order in which columns are left out in narrow terminals.
constexpr std::array<std::size_t, 3> dispensable = {3, 2, 4};

std::array<std::size_t, 5> column_widths(const std::vector<LevelRow>& rows) {
  std::array<std::size_t, 5> widths{};
  for (const LevelRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  return widths;
}

std::string table_text(const std::vector<LevelRow>& rows, int columns) {
  auto widths = column_widths(rows);
  const auto total = [&widths] {
    std::size_t sum = 0;
    for (const std::size_t width : widths) sum += width == 0 ? 0 : width + gap;
    return sum - gap;
  };
  for (const std::size_t column : dispensable) {
    if (total() > static_cast<std::size_t>(columns)) widths[column] = 0;
  }
  std::string text;
  for (const LevelRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      if (i > 0) line += std::string(gap, ' ');
      const bool number = i >= 1 && i <= 3;
      line += number ? fmt::format("{:>{}}", row[i], widths[i])
                     : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string section(const std::string& title, const std::vector<std::string>& items, int columns) {
  if (items.empty()) return std::string();
  std::string text = "\n" + paragraph("", title, columns);
  for (const std::string& item : items) text += paragraph("- ", item, columns);
  return text;
}

std::string heading(const Subject& subject, const Style& style) {
  const Ink bold{{}, {}, true, false};
  std::string text;
  for (const std::string& line : wrapped(machine_title(subject.machine), style.columns)) {
    text += inked(line, bold, style.color) + "\n";
  }
  return text + paragraph("", machine_line(subject.machine), style.columns) +
         paragraph("", calibration_line(subject), style.columns);
}

}  // namespace

std::string as_text(const Subject& raw, const Style& style) {
  const Subject subject = cleaned(raw);
  const machine::Machine& machine = subject.machine;
  std::string text = tree_text(machine.topology, subject.allowed, style);
  text += "\n" + heading(subject, style);
  text += "\n" + matrix_text(machine, style);
  if (!machine.line.empty()) text += "\n" + table_text(level_rows(machine), style.columns);
  text += paragraph("", figures_origin(subject), style.columns);
  text += section("Differences from the firmware's topology:", latency_differences(machine),
                  style.columns);
  std::vector<std::string> doubts;
  for (const machine::Doubt& doubt : machine.doubts) {
    doubts.push_back(fmt::format("{}: {}", doubt.what, doubt.why));
  }
  return text + section("Unsteady measurements:", doubts, style.columns);
}

}  // namespace huddle::picture
