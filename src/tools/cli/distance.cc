// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle distance`: how far messages of a collective go in the order of ranks.
#include "runtime/schedules/distance.h"

#include <optional>
#include <string>
#include <vector>

#include "simulate/network/simulation.h"
#include "tools/cli/command.h"
#include "tools/cli/distance_report.h"
#include "tools/cli/fabric_options.h"
#include "tools/cli/net_call.h"

namespace huddle::cli {
namespace {

class DistanceCommand : public Command {
 public:
  std::string name() const override { return "distance"; }
  std::string summary() const override {
    return "how far a collective between nodes sends, by algorithm";
  }
  std::string description() const override {
    return "Says for each algorithm of a collective between nodes how far apart in the order of "
           "ranks those are who send to each other: D, the average of |i - j| over all messages. "
           "Where neighbouring ranks are near each other a small D means few messages over long "
           "ways. D is counted from the schedules that huddle has proven, exactly; beside it is "
           "what a formula says where there is one, and what the paper that defines D printed "
           "where that is another. With --fabric it says as well where messages really go, one "
           "rank a node: how many meet beneath one switch, how many one level higher and so on, "
           "and how "
           "many blocks the fullest link carries.";
  }
  std::string examples() const override {
    return "  huddle distance allgather --ranks 8,10,16\n"
           "  huddle distance allgather --ranks 2..64 --json | jq '.points[]'\n"
           "  huddle distance allgather --ranks 2..256 --svg distance.svg\n"
           "  huddle distance allgather:bruck --radix 4 --ranks 64\n"
           "  huddle distance allgather -n 256 --fabric machines/fabrics/dragonfly.toml \\\n"
           "                  --placement round-robin";
  }

  void declare(Options& options) override {
    options.positional("OPERATION", operation_, "a collective, or one algorithm of it");
    options.complete("OPERATION", Value::word, algorithm_words());
    options.text("-n,--ranks", ranks_, "N", "how many: 8, 2..64 or 8,16,32");
    call_.declare(options);
    fabric_.declare(options);
    options.text("--svg", svg_, "FILE", "draw into this file; - is stdout");
    options.flag("--json", json_, "print everything as JSON");
    options.exclude("--svg", "--json");
  }

  ExitCode run(const Context& context) override {
    if (operation_.empty()) {
      throw UsageError("the distance of what? Say it: huddle distance allgather --ranks 16");
    }
    const auto algorithms = algorithms_from(operation_);
    if (ranks_.empty()) {
      throw UsageError("among how many ranks? Say it: huddle distance " + operation_ +
                       " --ranks 16");
    }
    const std::vector<int> counts = rank_counts_from(ranks_);
    if (!svg_.empty() && fabric_.given() && counts.size() > 1) {
      throw UsageError(
          "where messages go on a fabric is drawn for one number of ranks, as --ranks 64");
    }
    std::optional<fabric::Cluster> cluster;
    if (fabric_.given()) cluster = fabric_.cluster(context);
    std::vector<DistancePoint> points;
    for (const int ranks : counts) {
      points.push_back(point_of(algorithms, call_.call(ranks)));
      if (cluster) travel(*cluster, algorithms, points.back());
    }
    if (!svg_.empty()) {
      context.console.deliver(svg_, distance_svg(operation_, points));
      return ExitCode::fine;
    }
    context.console.print(json_ ? distance_json(operation_, points)
                                : distance_text(points, context.console.columns));
    return ExitCode::fine;
  }

 private:
  static DistancePoint point_of(const std::vector<net::Algorithm>& algorithms,
                                const net::Call& call) {
    DistancePoint point{call.ranks, {}};
    for (const net::Algorithm& algorithm : algorithms) {
      point.rows.push_back({algorithm.full_name(),
                            net::counted_distance(*net::make_schedule(algorithm, call)),
                            net::closed_distance(algorithm, call),
                            net::printed_distance(algorithm, call),
                            {}});
    }
    return point;
  }

  // Blocks of one byte: what is counted are blocks.
  void travel(const fabric::Cluster& cluster, const std::vector<net::Algorithm>& algorithms,
              DistancePoint& point) const {
    const std::vector<int> nodes = fabric_.nodes(cluster, point.ranks);
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      const auto schedule = net::make_schedule(algorithms[i], call_.call(point.ranks));
      point.rows[i].travel = sim::simulate(cluster, nodes, *schedule, 1);
    }
  }

  std::string operation_, ranks_, svg_;
  NetCallOptions call_;
  FabricOptions fabric_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_distance_command() { return std::make_unique<DistanceCommand>(); }

}  // namespace huddle::cli
