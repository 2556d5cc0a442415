// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/schedule_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "tools/cli/wrap.h"
#include "tools/picture/schedule_picture.h"

namespace huddle::cli {
namespace {

// The part of a receiver's round that a message is.
net::Part target_of(const net::Schedule& schedule, std::int64_t number, int from, int to) {
  net::Round round;
  schedule.make(to, number, round);
  for (const net::Message& receive : round.receives) {
    if (receive.peer == from) return receive.part;
  }
  return {};
}

net::Part source_of(const net::Schedule& schedule, std::int64_t number, int from, int to) {
  net::Round round;
  schedule.make(from, number, round);
  for (const net::Message& send : round.sends) {
    if (send.peer == to) return send.part;
  }
  return {};
}

ShownRound show_round(const net::Schedule& schedule, std::int64_t number, std::optional<int> rank) {
  ShownRound shown{number, {}, {}};
  net::Round round;
  const int first = rank.value_or(0);
  const int end = rank ? first + 1 : schedule.ranks();
  for (int at = first; at < end; ++at) {
    schedule.make(at, number, round);
    for (const net::Message& send : round.sends) {
      shown.messages.push_back(
          {at, send.peer, send.part, target_of(schedule, number, at, send.peer)});
    }
    for (const net::Work& work : round.work) shown.work.push_back({at, work});
    if (!rank) continue;
    for (const net::Message& receive : round.receives) {
      shown.messages.push_back(
          {receive.peer, at, source_of(schedule, number, receive.peer, at), receive.part});
    }
  }
  return shown;
}

net::RankTraffic most_of(const net::Schedule& schedule, std::optional<int> rank) {
  if (rank) return schedule.traffic(*rank);
  net::RankTraffic most;
  for (int at = 0; at < schedule.ranks(); ++at) {
    const net::RankTraffic traffic = schedule.traffic(at);
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

// One line a message, or for two that go to and fro.
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
    const auto* const join = std::get_if<net::Join>(&shown.work);
    if (join == nullptr) continue;  // where data lie concerns a program that reads the JSON
    text += fmt::format("  {:>4}: {} = {} + {}  {}\n", shown.rank, buffer_name(join->result),
                        buffer_name(join->left), buffer_name(join->right), join->blocks.text());
  }
  return text;
}

std::string title(const ShownSchedule& shown) {
  const net::Algorithm& algorithm = shown.algorithm;
  const std::string root =
      has_root(algorithm.operation) ? fmt::format(", root {}", shown.call.root) : "";
  return fmt::format("{} among {}{}: {}, {}", algorithm.full_name(),
                     counted(shown.call.ranks, "rank"), root, counted(shown.all_rounds, "round"),
                     counted(shown.blocks, "block"));
}

std::string most_text(const ShownSchedule& shown) {
  const std::string who = shown.rank ? fmt::format("Rank {}", *shown.rank) : "A rank at most";
  const net::RankTraffic& most = shown.most;
  return fmt::format("{}: {} with messages, {} sent with {}, {} received with {}", who,
                     counted(most.rounds, "round"), most.sends, counted(most.blocks_sent, "block"),
                     most.receives, counted(most.blocks_received, "block"));
}

// All but what happens in rounds.
ShownSchedule without_rounds(const net::Algorithm& algorithm, const net::Schedule& schedule,
                             std::optional<int> rank) {
  return {algorithm,
          schedule.call(),
          schedule.blocks(),
          schedule.rounds(),
          rank,
          most_of(schedule, rank),
          {}};
}

}  // namespace

std::string buffer_name(net::Buffer buffer) {
  if (buffer == net::Buffer::input) return "input";
  if (buffer == net::Buffer::output) return "output";
  return fmt::format("scratch {}",
                     static_cast<int>(buffer) - static_cast<int>(net::Buffer::scratch));
}

ShownSchedule show(const net::Algorithm& algorithm, const net::Schedule& schedule,
                   std::optional<int> rank) {
  ShownSchedule shown = without_rounds(algorithm, schedule, rank);
  const net::RoundSpan span = rank ? schedule.active(*rank) : net::RoundSpan{0, schedule.rounds()};
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

std::string schedule_svg(const net::Algorithm& algorithm, const net::Schedule& schedule) {
  const ShownSchedule shown = without_rounds(algorithm, schedule, std::nullopt);
  return picture::as_svg(picture::ScheduleSubject{
      schedule, title(shown), {std::string(algorithm.summary), most_text(shown)}});
}

}  // namespace huddle::cli
