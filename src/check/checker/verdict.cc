// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How an execution tells what went wrong.
#include <fmt/format.h>

#include "check/checker/execution.h"
#include "check/checker/text.h"

namespace huddle::verify::checker {

void Execution::fail(const std::string& what) {
  const int rank = fibers_.current();
  record(fmt::format("rank {}: {} [{}]", rank, what, text_of(of(rank).call.site)));
  throw Abandoned{};
}

void Execution::fail(const Conflict& conflict) {
  const world::Address place = memory_.place_at(conflict.byte);
  const std::string_view what = conflict.two_writers ? "two writers of the flag" : "a race at";
  std::string text = fmt::format("{} {}, rank {} was there before, and nothing orders the two",
                                 what, text_of(place), conflict.other);
  if (const auto site = trace_.last_touch(conflict.other, conflict.byte)) {
    text += fmt::format(" [{}]", text_of(*site));
  }
  Execution::fail(text);
}

// The first failure counts: what comes after it follows from it.
void Execution::record(const std::string& what) {
  if (!abandoned_) failure_ = Failure{what, trace_.tail(options_.trace_events), choices_};
  abandoned_ = true;
}

void Execution::report_stall() {
  std::string text = "nobody can go on:";
  for (int rank = 0; rank < job_.ranks; ++rank) text += waiting_text(rank);
  record(text);
  throw Abandoned{};
}

std::string Execution::waiting_text(int rank) const {
  const Rank& waiter = of(rank);
  if (waiter.state == Rank::State::ended) return fmt::format("\n  rank {} has ended", rank);
  const bool asleep = waiter.state == Rank::State::asleep;
  std::string text = fmt::format("\n  rank {} {}", rank, asleep ? "sleeps at" : "waits for");
  for (std::size_t i = 0; i < waiter.flags.size(); ++i) {
    const world::Address flag = waiter.flags[i];
    text += ' ' + text_of(flag);
    if (!asleep) text += " until it " + text_of(waiter.conditions[i].until);
    text += fmt::format(" (holds {})", text_of(machine_.peek(rank, flag)));
  }
  return text + fmt::format(" [{}]", text_of(waiter.call.site));
}

Trace::Touched Execution::touched(world::Address place, std::size_t n) const {
  if (memory_.refusal(place.owner, place, n)) return {};
  return {memory_.index(place), n};
}

}  // namespace huddle::verify::checker
