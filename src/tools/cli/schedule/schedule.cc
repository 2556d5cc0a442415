// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle schedule`: shows the messages of a collective between nodes.

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <string>

#include "common/text.h"
#include "runtime/schedules/check.h"
#include "tools/cli/command.h"
#include "tools/cli/net_options.h"
#include "tools/cli/schedule/schedule_report.h"
#include "tools/cli/terminal_text.h"
#include "tools/picture/schedule_picture.h"

namespace huddle::cli {
namespace {

// Returns the part of the receiver's round that corresponds to a message.
schedules::Part target_of(const schedules::Schedule& schedule, std::int64_t number, int from,
                          int to) {
  schedules::Round round;
  schedule.make(to, number, round);
  for (const schedules::Message& receive : round.receives) {
    if (receive.peer == from) return receive.part;
  }
  return {};
}

schedules::Part source_of(const schedules::Schedule& schedule, std::int64_t number, int from,
                          int to) {
  schedules::Round round;
  schedule.make(from, number, round);
  for (const schedules::Message& send : round.sends) {
    if (send.peer == to) return send.part;
  }
  return {};
}

ShownRound show_round(const schedules::Schedule& schedule, std::int64_t number,
                      std::optional<int> rank) {
  ShownRound shown{number, {}, {}};
  schedules::Round round;
  const int first = rank.value_or(0);
  const int end = rank ? first + 1 : schedule.ranks();
  for (int at = first; at < end; ++at) {
    schedule.make(at, number, round);
    for (const schedules::Message& send : round.sends) {
      shown.messages.push_back(
          {at, send.peer, send.part, target_of(schedule, number, at, send.peer)});
    }
    for (const schedules::Work& work : round.work) shown.work.push_back({at, work});
    if (!rank) continue;
    for (const schedules::Message& receive : round.receives) {
      shown.messages.push_back(
          {receive.peer, at, source_of(schedule, number, receive.peer, at), receive.part});
    }
  }
  return shown;
}

schedules::RankTraffic most_of(const schedules::Schedule& schedule, std::optional<int> rank) {
  if (rank) return schedule.traffic(*rank);
  schedules::RankTraffic most;
  for (int at = 0; at < schedule.ranks(); ++at) {
    const schedules::RankTraffic traffic = schedule.traffic(at);
    most = {std::max(most.rounds, traffic.rounds), std::max(most.sends, traffic.sends),
            std::max(most.receives, traffic.receives),
            std::max(most.blocks_sent, traffic.blocks_sent),
            std::max(most.blocks_received, traffic.blocks_received)};
  }
  return most;
}

const ShownMessage* answer_to(const ShownMessage& message, const std::vector<ShownMessage>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const ShownMessage& other) {
    return other.from == message.to && other.to == message.from;
  });
  return found == all.end() ? nullptr : &*found;
}

// Returns one line per message, or per pair of opposite messages.
std::string messages_text(const std::vector<ShownMessage>& messages, bool unicode) {
  std::string text;
  for (const ShownMessage& message : messages) {
    const ShownMessage* const answer = answer_to(message, messages);
    if (answer != nullptr && answer < &message) continue;
    const std::string_view arrow =
        answer == nullptr ? (unicode ? "→" : "->") : (unicode ? "↔" : "<>");
    std::string line = fmt::format("  {:>4} {} {:<4}  {}", message.from, arrow, message.to,
                                   message.source.blocks.text());
    if (answer != nullptr && !message.source.blocks.empty()) {
      line += " | " + answer->source.blocks.text();
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string work_text(const std::vector<ShownWork>& all) {
  std::string text;
  for (const ShownWork& shown : all) {
    const auto* const combine = std::get_if<schedules::Combine>(&shown.work);
    if (combine == nullptr) continue;  // data movement matters only to programs that read the JSON
    text += fmt::format("  {:>4}: {} = {} + {}  {}\n", shown.rank, buffer_name(combine->result),
                        buffer_name(combine->left), buffer_name(combine->right),
                        combine->blocks.text());
  }
  return text;
}

std::string title(const ShownSchedule& shown) {
  const schedules::Algorithm& algorithm = shown.algorithm;
  const std::string root =
      has_root(algorithm.operation) ? fmt::format(", root {}", shown.call.root) : "";
  return fmt::format("{} among {}{}: {}, {}", algorithm.full_name(),
                     counted(shown.call.ranks, "rank"), root, counted(shown.all_rounds, "round"),
                     counted(shown.blocks, "block"));
}

std::string most_text(const ShownSchedule& shown) {
  const std::string who = shown.rank ? fmt::format("Rank {}", *shown.rank) : "Maximum of a rank";
  const schedules::RankTraffic& most = shown.most;
  return fmt::format("{}: {} with messages, {} sent with {}, {} received with {}", who,
                     counted(most.rounds, "round"), most.sends, counted(most.blocks_sent, "block"),
                     most.receives, counted(most.blocks_received, "block"));
}

// Returns the schedule without the contents of its rounds.
ShownSchedule without_rounds(const schedules::Algorithm& algorithm,
                             const schedules::Schedule& schedule, std::optional<int> rank) {
  return {algorithm,
          schedule.call(),
          schedule.blocks(),
          schedule.rounds(),
          rank,
          most_of(schedule, rank),
          {}};
}

}  // namespace

std::string buffer_name(schedules::Buffer buffer) {
  if (buffer == schedules::Buffer::input) return "input";
  if (buffer == schedules::Buffer::output) return "output";
  return fmt::format("scratch {}",
                     static_cast<int>(buffer) - static_cast<int>(schedules::Buffer::scratch));
}

ShownSchedule show(const schedules::Algorithm& algorithm, const schedules::Schedule& schedule,
                   std::optional<int> rank) {
  ShownSchedule shown = without_rounds(algorithm, schedule, rank);
  const schedules::RoundSpan span =
      rank ? schedule.active(*rank) : schedules::RoundSpan{0, schedule.rounds()};
  for (std::int64_t number = span.first; number < span.last; ++number) {
    ShownRound round = show_round(schedule, number, rank);
    if (!round.messages.empty() || !round.work.empty()) shown.rounds.push_back(std::move(round));
  }
  return shown;
}

std::string schedule_text(const ShownSchedule& shown, const Console& console) {
  std::string text = title(shown) + '\n';
  text += wrap("", std::string(shown.algorithm.summary), 0, console.columns);
  text += wrap("", most_text(shown), 0, console.columns);
  for (const ShownRound& round : shown.rounds) {
    text += fmt::format("\nround {}\n", round.number);
    text += messages_text(round.messages, console.unicode) + work_text(round.work);
  }
  return text;
}

std::string schedule_svg(const schedules::Algorithm& algorithm,
                         const schedules::Schedule& schedule) {
  const ShownSchedule shown = without_rounds(algorithm, schedule, std::nullopt);
  return picture::as_svg(picture::ScheduleSubject{
      schedule, title(shown), {std::string(algorithm.summary), most_text(shown)}});
}

namespace {

// Limit for showing all ranks; larger tables are not readable.
constexpr int most_shown = 1024;

class ScheduleCommand : public Command {
 public:
  std::string name() const override { return "schedule"; }
  std::string summary() const override {
    return "show the messages of a collective between nodes, by rounds";
  }
  std::string description() const override {
    return "Shows an algorithm of a collective between nodes, round by round: which rank sends "
           "which blocks to which rank. A block is the contribution of one rank to an allgather, a "
           "segment of a broadcast, or a slice of a reduction. In each round, a rank posts all its "
           "receives and sends, and waits for all of them. Without ALGORITHM, all algorithms are "
           "listed.";
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
    options.positional("ALGORITHM", algorithm_, "the algorithm, such as allgather:neighbor");
    options.complete("ALGORITHM", Value::word, algorithm_words());
    options.number("-n,--ranks", ranks_, 0, most_ranks, "N", "number of ranks (default: 8)");
    call_.declare(options);
    options.text("--rank", rank_, "RANK", "show only what this rank does");
    options.flag("--check", check_,
                 "check that the schedule is correct, and print the first error if it is not");
    options.text("--svg", svg_, "FILE", "write an SVG picture to FILE, or to standard output (-)");
    options.flag("--json", json_, "print everything as JSON");
    options.exclude("--rank", "--check");
    options.exclude("--check", "--json");
    options.exclude("--svg", "--rank");
    options.exclude("--svg", "--check");
    options.exclude("--svg", "--json");
  }

  ExitCode run(const Context& context) override {
    if (algorithm_.empty()) {
      context.console.print(list(context.console.columns));
      return ExitCode::fine;
    }
    const schedules::Algorithm& algorithm = schedules::algorithm_named(algorithm_);
    const auto schedule = schedules::make_schedule(algorithm, call_.call(ranks_));
    if (check_) return prove(algorithm, *schedule, context.console);
    const std::optional<int> rank = rank_asked();
    if (!rank && ranks_ > most_shown) {
      throw UsageError(
          fmt::format("{} ranks are too many to show; select one with --rank RANK", ranks_));
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
  static std::string list(int columns) {
    constexpr int name_columns = 26;
    std::string text;
    for (const schedules::Algorithm& algorithm : schedules::algorithms()) {
      text += wrap(padded(algorithm.full_name(), name_columns), algorithm.summary, name_columns,
                   columns);
    }
    return text;
  }

  std::optional<int> rank_asked() const {
    if (rank_.empty()) return std::nullopt;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (fmt::format("{}", rank) == rank_) return rank;
    }
    throw UsageError(fmt::format("there is no rank {} among {} ranks; the last one is {}", rank_,
                                 ranks_, ranks_ - 1));
  }

  static ExitCode prove(const schedules::Algorithm& algorithm, const schedules::Schedule& schedule,
                        const Console& console) {
    for (const bool in_place : {false, true}) {
      if (in_place && !algorithm.in_place) continue;
      const auto flaw =
          schedules::flaw_in({schedule, algorithm.operation, algorithm.order, in_place});
      if (!flaw) continue;
      console.print(
          fmt::format("{}{}: {}\n", algorithm.full_name(), in_place ? ", in place" : "", *flaw));
      return ExitCode::failure;
    }
    console.print(fmt::format("{} among {} ranks is correct{}\n", algorithm.full_name(),
                              schedule.ranks(), algorithm.in_place ? ", also in place" : ""));
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
