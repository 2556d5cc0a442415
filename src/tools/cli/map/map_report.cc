// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/map/map_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "common/arithmetic.h"
#include "common/text.h"
#include "placement/mapping/bandwidth.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {

// Reports of `huddle map` as text, and the decision whether it recommends its placement.
namespace {

constexpr std::string_view leave = "keep the current placement: ";

std::string elements_text(const MapReport& subject) {
  return counted(subject.matrix.size(), mapping::element_word(subject.matrix.kind));
}

std::string events_text(const mapping::Events& events) {
  return counted(std::llround(events.total()), "sampled event");
}

MapDecision staying(std::string why) { return {false, std::string(leave) + std::move(why)}; }

}  // namespace

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

mapping::Finding finding_of(const MapReport& subject) {
  return subject.matrix.events ? examine(*subject.matrix.events, mapping::EvidenceLimits())
                               : mapping::Finding::sufficient;
}

std::string evidence_text(const MapReport& subject) {
  if (!subject.matrix.events) return "";
  return finding_text(*subject.matrix.events, elements_text(subject), mapping::EvidenceLimits());
}

bool can_place(const MapReport& subject) {
  return subject.problem.memory != nullptr || finding_of(subject) == mapping::Finding::sufficient;
}

double gain(const MapReport& subject, const MethodResult& placed) {
  const double before_ns = subject.before.time.ns();
  return before_ns == 0 ? 0 : 1 - placed.quality.time.ns() / before_ns;
}

double certain_gain(const MapReport& subject, const MethodResult& placed) {
  if (!subject.matrix.events) return gain(subject, placed);
  const mapping::MappingProblem& problem = subject.problem;
  const mapping::Gain shared =
      gain_of(*subject.matrix.events, problem.tree, problem.present, placed.mapped.mapping);
  const mapping::PredictedTime& before = subject.before.time;
  const double lines = shared.before_ns > 0 ? before.communication_ns / shared.before_ns : 0;
  return shared.with_memory(lines, before.memory_ns, placed.quality.time.memory_ns)
      .least_share(mapping::EvidenceLimits());
}

namespace {

// Returns for example "communication takes 16 us instead of 25 us".
std::string term_text(std::string_view term, double before_ns, double after_ns) {
  return fmt::format("{} takes {} instead of {}", term, time_text(after_ns), time_text(before_ns));
}

std::string saved_text_of(const MapReport& subject, const MethodResult& placed) {
  const mapping::PredictedTime& before = subject.before.time;
  const mapping::PredictedTime& after = placed.quality.time;
  std::string text = fmt::format(
      "{} of the predicted time saved, {} of {}: {}", percent_text(gain(subject, placed)),
      time_text(before.ns() - after.ns()), time_text(before.ns()),
      term_text("communication", before.communication_ns, after.communication_ns));
  if (subject.problem.memory != nullptr) {
    text += ", and " + term_text("memory", before.memory_ns, after.memory_ns);
  }
  if (!subject.matrix.events) return text;
  return fmt::format("{}; with a confidence of {:.0f} %, {} show a saving of at least {}", text,
                     100 * mapping::EvidenceLimits().confidence(),
                     events_text(*subject.matrix.events),
                     percent_text(certain_gain(subject, placed)));
}

}  // namespace

MapDecision decision_for(const MapReport& subject, const MethodResult& placed) {
  if (subject.before.time.ns() == 0)
    return {false, "nothing to gain: no two ranks or threads communicate"};
  if (!can_place(subject)) return staying(evidence_text(subject));
  const double saved = gain(subject, placed);
  if (saved <= 0) return staying("no better placement was found");
  const std::string saved_text = percent_text(saved) + " of the predicted time saved";
  const std::string too_little =
      fmt::format("less than --min-gain {:g} %", 100 * subject.least_gain);
  if (saved < subject.least_gain) return staying(saved_text + " is " + too_little);
  const double certain = certain_gain(subject, placed);
  if (certain <= 0 || certain < subject.least_gain) {
    return staying(fmt::format("{}, of which only {} is certain with {}: {}", saved_text,
                               percent_text(certain), events_text(*subject.matrix.events),
                               too_little));
  }
  return {true, saved_text_of(subject, placed)};
}

std::string bandwidth_text(double gb_per_s) { return fmt::format("{:.3g} GB/s", gb_per_s); }

std::string bandwidth_warning(const MapReport& subject, const MethodResult& placed) {
  const std::optional<double> balanced = subject.bandwidth.balanced;
  // The predicted time includes what a lack of bandwidth costs.
  if (!placed.memory_gb_per_s || !balanced || subject.problem.memory != nullptr) return "";
  // Smaller losses are within the measurement error of copies.
  if (*placed.memory_gb_per_s >= mapping::least_bandwidth_kept * *balanced) return "";
  return fmt::format(
      "this placement can use a memory bandwidth of {}; distributed over all sockets and NUMA "
      "nodes, the {} could use {}",
      bandwidth_text(*placed.memory_gb_per_s), elements_text(subject), bandwidth_text(*balanced));
}

namespace {

using mapping::Object;

// Returns for example "16 ranks, 32 pairs that talk, 1.5M".
std::string matrix_line(const MapReport& subject) {
  const mapping::CommMatrix& matrix = subject.matrix;
  return fmt::format(
      "{}: {}, {}, {} bytes", subject.path,
      counted(matrix.size(), mapping::element_word(matrix.kind)),
      counted(static_cast<long long>(matrix.graph.edges()), "pair") + " that communicate",
      size_text(total_bytes(matrix.graph)));
}

std::string slots_line(const MapReport& subject) {
  const mapping::SlotTree& tree = subject.problem.tree;
  const std::string nodes =
      tree.nodes() == 1 ? "" : fmt::format(" on {}", counted(tree.nodes(), "node"));
  return fmt::format("{}: {}{}", subject.machine, counted(tree.size(), "slot"), nodes);
}

std::string heading(const MapReport& subject, const Console& console) {
  std::string text = matrix_line(subject) + "\n" + slots_line(subject) + "\n";
  for (const std::string& note : subject.notes) text += wrap("note: ", note, 6, console.columns);
  return text;
}

Table figures(const MapReport& subject, const MethodResult& placed) {
  Table table({"", "before", "after"}, {0, 0});
  const mapping::Quality& before = subject.before;
  const mapping::Quality& after = placed.quality;
  table.add({"predicted time", time_text(before.time.ns()), time_text(after.time.ns())});
  table.add({"of which communication", time_text(before.time.communication_ns),
             time_text(after.time.communication_ns)});
  const bool has_memory = subject.problem.memory != nullptr;
  table.add({"of which memory", has_memory ? time_text(before.time.memory_ns) : "unknown",
             has_memory ? time_text(after.time.memory_ns) : "unknown"});
  table.add({"accuracy (bytes / ns)", fmt::format("{:.4g}", before.accuracy),
             fmt::format("{:.4g}", after.accuracy)});
  const auto& levels = subject.problem.tree.levels();
  for (std::size_t level = 0; level < levels.size(); ++level) {
    table.add(
        {fmt::format("bytes through {} ({})", levels[level].name, time_text(levels[level].ns)),
         percent_text(before.share_of_level[level]), percent_text(after.share_of_level[level])});
  }
  for (std::size_t level = levels.size(); level-- > 0;) {
    if (before.largest_load[level] == 0 && after.largest_load[level] == 0) continue;
    table.add({fmt::format("largest load of a part of one {}", levels[level].name),
               size_text(before.largest_load[level]), size_text(after.largest_load[level])});
    break;
  }
  const std::optional<double>& memory = subject.bandwidth.before;
  if (!has_memory && memory && placed.memory_gb_per_s && subject.bandwidth.all) {
    table.add(
        {fmt::format("memory bandwidth (all cores: {})", bandwidth_text(*subject.bandwidth.all)),
         bandwidth_text(*memory), bandwidth_text(*placed.memory_gb_per_s)});
  }
  table.add({"moved", "", fmt::format("{} of {}", after.moved, subject.matrix.size())});
  return table;
}

// The matrix with its elements in the order of their slots, reduced to `side` by `side` cells.
class Cells {
 public:
  Cells(const MapReport& subject, const mapping::Mapping& mapping, int side)
      : side_(side), bytes_(at(side) * at(side), 0) {
    const int elements = subject.matrix.size();
    std::vector<int> cell(at(elements));
    int seen = 0;
    for (const int element : mapping::occupants(subject.problem, mapping)) {
      if (element < 0) continue;
      cell[at(element)] = static_cast<int>(static_cast<long long>(seen++) * side / elements);
    }
    for (int v = 0; v < elements; ++v) {
      const mapping::Graph::Row row = subject.matrix.graph.row(v);
      for (std::size_t i = 0; i < row.size(); ++i) {
        bytes_[at(cell[at(v)]) * at(side) + at(cell[at(row.neighbours[i])])] += row.bytes[i];
      }
    }
  }

  double at_cell(int row, int column) const { return bytes_[at(row) * at(side_) + at(column)]; }
  double most() const { return *std::max_element(bytes_.begin(), bytes_.end()); }
  double least() const {
    double least = std::numeric_limits<double>::infinity();
    for (const double bytes : bytes_) {
      if (bytes > 0) least = std::min(least, bytes);
    }
    return least;
  }

 private:
  int side_;
  std::vector<double> bytes_;
};

// Returns the heading of the matrices, with the number of samples behind them.
std::string matrices_title(const MapReport& subject, int side) {
  std::string title = "bytes between each pair, in the order of slots";
  const int elements = subject.matrix.size();
  if (side < elements) {
    title += fmt::format("; each cell: up to {0} by {0} {1}s", (elements + side - 1) / side,
                         mapping::element_word(subject.matrix.kind));
  }
  if (subject.matrix.events) title += "; from " + events_text(*subject.matrix.events);
  return title;
}

std::string matrices(const MapReport& subject, const MethodResult& placed, const Console& console) {
  constexpr int most_cells = 32, gap = 4, columns_a_cell = 2;
  const int fitting = (console.columns - gap) / (2 * columns_a_cell);
  const int side = std::min({subject.matrix.size(), most_cells, std::max(fitting, 4)});
  const Cells before(subject, subject.problem.present, side);
  const Cells after(subject, placed.mapped.mapping, side);
  const Shading shading({.least = std::min(before.least(), after.least()),
                         .most = std::max(before.most(), after.most()),
                         .pale = finding_of(subject) != mapping::Finding::sufficient,
                         .unicode = console.unicode});
  std::string text = wrap("", matrices_title(subject, side), 0, console.columns) +
                     padded("before", side * columns_a_cell + gap) + "after\n";
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      text += shading.of(before.at_cell(row, column));
    }
    text += spaces(gap);
    for (int column = 0; column < side; ++column) {
      text += shading.of(after.at_cell(row, column));
    }
    text += '\n';
  }
  return text + wrap("", "bytes: " + shading.legend("none", size_text), 2, console.columns);
}

// The placement as text: a line for each object at the lowest shared level.
class EmittedPlacement {
 public:
  EmittedPlacement(const MapReport& subject, const mapping::Mapping& mapping)
      : tree_(subject.problem.tree),
        hosts_(subject.hosts),
        occupant_(mapping::occupants(subject.problem, mapping)) {}

  std::string text(const Console& console) {
    columns_ = console.columns;
    draw(0, 0);
    if (left_out_ > 0) {
      text_ += fmt::format("  ... and {} more; --json prints all\n", left_out_);
    }
    return "placement (.: free)\n" + text_;
  }

 private:
  void draw(int number, int depth) {
    const Object& object = tree_.objects()[at(number)];
    if (is_empty(object)) return;
    if (lines_ == most_lines) {
      ++left_out_;
      return;
    }
    const bool innermost = std::all_of(object.children.begin(), object.children.end(),
                                       [&](int c) { return tree_.objects()[at(c)].is_leaf(); });
    const std::string head = spaces(2 * depth + 2) + title(object);
    ++lines_;
    if (innermost) {
      std::vector<std::string> words;
      for (int slot = object.first; slot < object.last; ++slot) {
        words.push_back(occupant_[at(slot)] < 0 ? "." : fmt::format("{}", occupant_[at(slot)]));
      }
      text_ += wrap(head + ": ", fmt::format("{}", fmt::join(words, " ")), 2 * depth + 4, columns_);
      return;
    }
    text_ += head + "\n";
    for (const int child : object.children) draw(child, depth + 1);
  }
  bool is_empty(const Object& object) const {
    return std::all_of(occupant_.begin() + object.first, occupant_.begin() + object.last,
                       [](int element) { return element < 0; });
  }
  // Returns for example "l3, processors 0-7", "node 1", "core, processor 3".
  std::string title(const Object& object) const {
    const mapping::Slot& first = tree_.slots()[at(object.first)];
    if (object.is_leaf()) return fmt::format("hardware thread {}", slot_text(first, tree_.nodes()));
    const std::string& name = tree_.levels()[at(object.level)].name;
    if (name == "network") return name;
    std::vector<int> pus;
    for (int slot = object.first; slot < object.last; ++slot) {
      pus.push_back(tree_.slots()[at(slot)].pu);
    }
    const std::string node = tree_.nodes() > 1 ? fmt::format("{}, ", node_text(first.node)) : "";
    return fmt::format("{}{} {}", node, name, machine::CpuSet(pus).text());
  }

  // Returns "node 1", or "node 1 (n17)".
  std::string node_text(int node) const {
    const std::string number = fmt::format("node {}", node);
    return hosts_.empty() ? number : fmt::format("{} ({})", number, printable(hosts_[at(node)]));
  }

  static constexpr int most_lines = 40;
  const mapping::SlotTree& tree_;
  const std::vector<std::string>& hosts_;
  std::vector<int> occupant_;
  std::string text_;
  int columns_ = 80;
  int lines_ = 0;
  int left_out_ = 0;
};

std::string why(const MapReport& subject, const MethodResult& placed) {
  std::string text = fmt::format("{}: {}.", placed.method, placed.mapped.how);
  const auto& levels = subject.problem.tree.levels();
  std::size_t most = 0;
  double largest = 0;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const double less =
        (subject.before.share_of_level[level] - placed.quality.share_of_level[level]) *
        levels[level].ns;
    if (less > largest) {
      largest = less;
      most = level;
    }
  }
  if (largest > 0) {
    text +=
        fmt::format(" {} of all bytes went through {} ({} per line), now {}.",
                    percent_text(subject.before.share_of_level[most]), levels[most].name,
                    time_text(levels[most].ns), percent_text(placed.quality.share_of_level[most]));
  }
  return text;
}

}  // namespace

std::string map_text(const MapReport& subject, const MethodResult& placed, const Console& console) {
  std::string text = heading(subject, console);
  text += "\n" + wrap("", decision_for(subject, placed).text, 0, console.columns) +
          wrap("why: ", why(subject, placed), 5, console.columns);
  if (const std::string warning = bandwidth_warning(subject, placed); !warning.empty()) {
    text += wrap("warning: ", warning, 9, console.columns);
  }
  text += "\n" + figures(subject, placed).text(console.columns);
  if (subject.before.hop_bytes > 0) text += "\n" + matrices(subject, placed, console);
  return text + "\n" + EmittedPlacement(subject, placed.mapped.mapping).text(console);
}

std::string map_compare_text(const MapReport& subject, const std::vector<MethodResult>& all,
                             const Console& console) {
  Table table({"method", "predicted", "communication", "memory", "relative", "moved", "took"},
              {0, 0});
  for (const MethodResult& placed : all) {
    const mapping::PredictedTime& time = placed.quality.time;
    const double before_ns = subject.before.time.ns();
    table.add({placed.method, time_text(time.ns()), time_text(time.communication_ns),
               subject.problem.memory == nullptr ? "unknown" : time_text(time.memory_ns),
               before_ns > 0 ? fmt::format("{:.3f}", time.ns() / before_ns) : "-",
               fmt::format("{}", placed.quality.moved), time_text(placed.took_ms * 1e6)});
  }
  return heading(subject, console) + "\n" + table.text(console.columns);
}

}  // namespace huddle::cli
