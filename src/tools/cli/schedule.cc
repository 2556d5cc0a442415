// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle schedule`: who sends what to whom in a collective between nodes.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "runtime/schedules/check.h"
#include "tools/cli/command.h"
#include "tools/cli/net_call.h"
#include "tools/cli/schedule_report.h"

namespace huddle::cli {
namespace {

// Of all ranks together, more is nothing to look at.
constexpr int most_shown = 1024;

class ScheduleCommand : public Command {
 public:
  std::string name() const override { return "schedule"; }
  std::string summary() const override { return "who sends what to whom between nodes, by rounds"; }
  std::string description() const override {
    return "Shows an algorithm of a collective between nodes, round by round: who sends to whom, "
           "and which blocks. A block is what one rank contributes to an allgather, a segment of a "
           "broadcast, a slice of a reduction. In a round a rank posts all its receives and sends, "
           "and waits for all of them. Without an algorithm's name all names are listed.";
  }
  std::string examples() const override {
    return "  huddle schedule allgather:neighbor -n 7\n"
           "  huddle schedule bcast:circulant -n 9 --segments 4 --root 2\n"
           "  huddle schedule allreduce:slices -n 1000 --rank 17\n"
           "  huddle schedule allreduce:halving -n 100 --check\n"
           "  huddle schedule allgather:neighbor -n 64 --svg neighbor.svg\n"
           "  huddle schedule allgather:bruck -n 8 --json | jq '.rounds[].messages'";
  }

  void declare(Options& options) override {
    options.positional("ALGORITHM", algorithm_, "such as allgather:neighbor");
    options.complete("ALGORITHM", Value::word, algorithm_words());
    options.number("-n,--ranks", ranks_, 0, most_ranks, "N", "how many; else 8");
    call_.declare(options);
    options.text("--rank", rank_, "RANK", "what this one does, and nobody else");
    options.flag("--check", check_, "prove it, and say what is wrong with it if anything is");
    options.text("--svg", svg_, "FILE", "draw into this file; - is stdout");
    options.flag("--json", json_, "print everything as JSON");
    options.exclude("--rank", "--check");
    options.exclude("--check", "--json");
    options.exclude("--svg", "--rank");
    options.exclude("--svg", "--check");
    options.exclude("--svg", "--json");
  }

  ExitCode run(const Context& context) override {
    if (algorithm_.empty()) {
      context.console.print(list());
      return ExitCode::fine;
    }
    const net::Algorithm& algorithm = net::algorithm_named(algorithm_);
    const auto schedule = net::make_schedule(algorithm, call_.call(ranks_));
    if (check_) return prove(algorithm, *schedule, context.console);
    const std::optional<int> rank = rank_asked();
    if (!rank && ranks_ > most_shown) {
      throw UsageError(
          fmt::format("{} ranks are too many to look at: one of them is shown by "
                      "--rank RANK",
                      ranks_));
    }
    if (!svg_.empty()) {
      context.console.deliver(svg_, schedule_svg(algorithm, *schedule));
      return ExitCode::fine;
    }
    const ShownSchedule shown = show(algorithm, *schedule, rank);
    context.console.print(json_ ? schedule_json(shown) : schedule_text(shown, context.console));
    return ExitCode::fine;
  }

 private:
  static std::string list() {
    std::string text;
    for (const net::Algorithm& algorithm : net::algorithms()) {
      text += fmt::format("{:<24}  {}\n", algorithm.full_name(), algorithm.summary);
    }
    return text;
  }

  std::optional<int> rank_asked() const {
    if (rank_.empty()) return std::nullopt;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (fmt::format("{}", rank) == rank_) return rank;
    }
    throw UsageError(
        fmt::format("there is no rank {} among {}; the last is {}", rank_, ranks_, ranks_ - 1));
  }

  static ExitCode prove(const net::Algorithm& algorithm, const net::Schedule& schedule,
                        const Console& console) {
    for (const bool in_place : {false, true}) {
      if (in_place && !algorithm.in_place) continue;
      const auto flaw = net::flaw_in({schedule, algorithm.operation, algorithm.order, in_place});
      if (!flaw) continue;
      console.print(
          fmt::format("{}{}: {}\n", algorithm.full_name(), in_place ? ", in place" : "", *flaw));
      return ExitCode::failure;
    }
    console.print(fmt::format("{} among {} ranks is proven{}\n", algorithm.full_name(),
                              schedule.ranks(), algorithm.in_place ? ", in place, too" : ""));
    return ExitCode::fine;
  }

  std::string algorithm_, rank_, svg_;
  int ranks_ = 8;
  NetCallOptions call_;
  bool check_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_schedule_command() { return std::make_unique<ScheduleCommand>(); }

}  // namespace huddle::cli
