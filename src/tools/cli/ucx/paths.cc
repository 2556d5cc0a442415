// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle paths`: compares the paths of a message within the node.

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "common/text.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/terminal_text.h"
#include "tools/cli/ucx/ucx_report.h"
#include "tools/ucx/score.h"

namespace huddle::cli {
namespace {

std::string rate_text(double bytes, double ns) { return fmt::format("{:.3g}", bytes / ns); }

std::string taken_text(const PathPoint& point, const Taken& taken) {
  const double fastest_ns = point.ways[point.fastest].ns;
  return taken.ns <= fastest_ns ? taken.way
                                : fmt::format("{} ({:.2f}x)", taken.way, taken.ns / fastest_ns);
}

// Returns the sizes from which on another path is the fastest.
std::string crossings_text(const Paths& paths) {
  std::string text;
  const PathPoint* before = nullptr;
  for (const PathPoint& point : paths.points) {
    const std::string& fastest = point.ways[point.fastest].name;
    if (before == nullptr) {
      text = fmt::format("Fastest path: {}", fastest);
    } else if (fastest != before->ways[before->fastest].name) {
      text += fmt::format("; from {} on: {}", size_text(point.bytes), fastest);
    }
    before = &point;
  }
  return text + ".\n";
}

// Precedes the figures, because a reader would take them for measurements of this machine.
std::string estimates_text(const Paths& paths, int columns) {
  if (paths.is_measured) return std::string();
  return wrap(
      "",
      paths.machine_file.empty()
          ? "This machine has not been measured; run 'huddle calibrate' first. All figures "
            "are generic estimates, so they cannot show what UCX does wrong on this machine."
          : "No figure was measured: the machine file contains published and estimated "
            "figures.",
      2, columns);
}

std::string heading_text(const Paths& paths) {
  return fmt::format("{}, {}{}: GB/s per rank{}\n", paths.machine, counted(paths.ranks, "rank"),
                     paths.ranks > 1 ? " at once" : "",
                     paths.is_measured ? "" : ", estimated, not measured");
}

}  // namespace

std::string paths_text(const Paths& paths, int columns) {
  std::string text = heading_text(paths) + estimates_text(paths, columns);
  Table::Row heading = {"message"};
  for (const Way& way : paths.points.front().ways) heading.push_back(way.name);
  heading.emplace_back("fastest");
  for (const Taken& taken : paths.points.front().ucx)
    heading.push_back("UCX " + taken.from_version);
  Table table(heading, {.indent = 2});
  for (const PathPoint& point : paths.points) {
    Table::Row row = {size_text(point.bytes)};
    for (const Way& way : point.ways) row.push_back(rate_text(point.bytes, way.ns));
    row.push_back(point.ways[point.fastest].name);
    for (const Taken& taken : point.ucx) row.push_back(taken_text(point, taken));
    table.add(row);
  }
  text += table.text(columns) + crossings_text(paths);
  if (!paths.points.front().ucx.empty()) {
    text += wrap("",
                 "copied: into shared memory and out again. UCX columns: the path that UCX selects "
                 "by its constants from that version on, and its time relative to the fastest "
                 "path. UCX copies messages below about 8K ('eager'), and up to 256K those of "
                 "blocking sends; the receiver reads the others. 'huddle ucx' prints settings that "
                 "replace the constants with these figures.",
                 0, columns);
  }
  return text;
}

namespace {

constexpr int most_path_ranks = 1024;
constexpr std::array sizes_bytes = {4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0};

// The first version of each set of constants that leads to different decisions.
struct Constants {
  ucx::Version version;
  const char* from_version;
};
constexpr std::array constants = {Constants{ucx::oldest_known, "1.9"},
                                  Constants{ucx::knem_is_each_ranks_own, "1.14"}};

class PathsCommand : public Command {
 public:
  std::string name() const override { return "paths"; }
  std::string summary() const override { return "show the fastest path of messages inside a node"; }
  std::string description() const override {
    return "Shows how fast a message moves from one rank of a node to another on each path of this "
           "machine, while all ranks send: copied in and out of shared memory, or read from the "
           "sender's memory (cma, knem, xpmem). Beside the figures is the path that UCX selects by "
           "its constants. The figures are from the machine file, for which 'huddle calibrate' "
           "measures them with all cores at work. Without a calibration they are estimates, and "
           "the output begins with that statement.";
  }
  std::string examples() const override {
    return "  huddle paths                         one rank per core of this machine\n"
           "  huddle paths -n 2\n"
           "  huddle paths -n 32 --machine songshan\n"
           "  huddle paths --json | jq '.points[] | [.bytes, .fastest]'";
  }

  void declare(Options& options) override {
    options.number("-n,--ranks", ranks_, 1, most_path_ranks, "N",
                   "number of ranks (default: one per core)");
    options.setting("machine");
    options.flag("--json", json_, "print everything as JSON");
  }

  ExitCode run(const Context& context) override {
    const machine::Discovery here = machine::discover_this_machine();
    const SelectedMachine machine = machine_in_question(context, here.topology);
    const machine::Machine& described = machine.loaded.machine;
    const machine::CostModel model(described);
    Paths paths{.machine = described.name,
                .machine_file = machine.loaded.path,
                .is_measured = machine::calibrated(described),
                .ranks = ranks_ > 0
                             ? ranks_
                             : static_cast<int>(first_pu_of_cores(described.topology).size()),
                .points = {}};
    for (const double bytes : sizes_bytes) {
      paths.points.push_back(point_of(model, bytes, paths.ranks));
    }
    context.console.print(json_ ? paths_json(paths) : paths_text(paths, context.console.columns));
    return ExitCode::fine;
  }

 private:
  static PathPoint point_of(const machine::CostModel& model, double bytes, int ranks) {
    PathPoint point{bytes, {}, 0, {}};
    for (const std::string& way : ucx::ways_of(model.machine())) {
      const double ns = ucx::communication_cost_ns(model, way, bytes, ranks);
      if (std::isfinite(ns)) point.ways.push_back({way, ns});
    }
    if (point.ways.empty()) {
      throw InputError(
          "the machine file has no figures of two cores and no paths; run 'huddle calibrate'");
    }
    for (std::size_t i = 1; i < point.ways.size(); ++i) {
      if (point.ways[i].ns < point.ways[point.fastest].ns) point.fastest = i;
    }
    for (const Constants& kind : constants) {
      auto rated = ucx::shipped_ratings(kind.version);
      rated.erase(std::remove_if(rated.begin(), rated.end(),
                                 [&](const ucx::RatedPath& one) {
                                   return !std::isfinite(model.path_ns(one.path, bytes, 0));
                                 }),
                  rated.end());
      const auto path = ucx::best_path(rated, ucx::judged_bytes, ranks);
      if (!path) continue;
      const double eager_ns = ucx::communication_cost_ns(model, ucx::shared_memory, bytes, ranks);
      const bool is_eager = bytes < ucx::eager_below_bytes(kind.version) && std::isfinite(eager_ns);
      const std::string_view taken = is_eager ? ucx::shared_memory : *path;
      point.ucx.push_back({kind.from_version, std::string(taken),
                           ucx::communication_cost_ns(model, taken, bytes, ranks)});
    }
    return point;
  }

  int ranks_ = 0;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_paths_command() { return std::make_unique<PathsCommand>(); }

}  // namespace huddle::cli
