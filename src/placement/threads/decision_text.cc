// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Texts of the agent's decisions.
#include <fmt/format.h>

#include "common/text.h"
#include "placement/threads/agent.h"

namespace huddle::threads {
namespace {

std::string at_work(const Decision& decision) {
  return counted(static_cast<long long>(decision.threads.size()), "thread") + " active";
}

std::string_view nothing_or_back(const Decision& decision) {
  return decision.restores ? "restore the previous placement" : "do nothing";
}

std::string gain_text(const Decision& decision) {
  const auto term = [](std::string_view name, double before_ns, double after_ns) {
    return fmt::format("{} from {} to {}", name, time_text(before_ns), time_text(after_ns));
  };
  std::string terms =
      term("communication", decision.before.communication_ns, decision.after.communication_ns);
  if (decision.knows_memory) {
    terms += ", " + term("memory", decision.before.memory_ns, decision.after.memory_ns);
  }
  return fmt::format("moving {} would save {:.0f} % of the predicted time ({} a second)",
                     counted(decision.moved, "thread"), 100 * decision.saved, terms);
}

std::string less_memory_text(const Decision& decision) {
  const mapping::MemoryUse& now = decision.rejected->now;
  const mapping::MemoryUse& then = decision.rejected->then;
  const std::string head =
      fmt::format("do nothing: moving {} closer to each other would limit them to",
                  counted(static_cast<long long>(decision.threads.size()), "thread"));
  if (then.numa_nodes < now.numa_nodes) {
    return fmt::format("{} {} of the {} NUMA nodes that they use", head, then.numa_nodes,
                       now.numa_nodes);
  }
  return fmt::format("{} {:.3g} of {:.3g} GB/s of memory bandwidth", head,
                     then.gb_per_s.value_or(0), now.gb_per_s.value_or(0));
}

}  // namespace

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::one_thread:
      return "one thread";
    case Reason::too_few_touches:
      return "too few touches";
    case Reason::all_alike:
      return "all alike";
    case Reason::too_many_threads:
      return "too many threads";
    case Reason::best_already:
      return "best already";
    case Reason::less_memory:
      return "less memory bandwidth";
    case Reason::too_little_gain:
      return "too little gain";
    case Reason::seen_once:
      return "seen once";
    case Reason::cooling_off:
      return "cooling off";
    case Reason::move:
      return "move";
  }
  return "";
}

std::string text_of(const Decision& decision) {
  switch (decision.reason) {
    case Reason::one_thread:
      return "do nothing: fewer than two active threads";
    case Reason::too_few_touches:
      return fmt::format(
          "do nothing: {}, and pages changed between threads {:.0f} times, which is too few to "
          "decide",
          at_work(decision), decision.counts);
    case Reason::all_alike:
      return fmt::format("{}: all pairs of {} share about the same amount",
                         nothing_or_back(decision), at_work(decision));
    case Reason::too_many_threads:
      return fmt::format("{}: {}, which is more than hardware threads", nothing_or_back(decision),
                         at_work(decision));
    case Reason::best_already:
      return "do nothing: no better placement was found";
    case Reason::less_memory:
      return less_memory_text(decision);
    case Reason::too_little_gain:
      return fmt::format("do nothing: {}; this gains at least {} and costs {}", gain_text(decision),
                         time_text(decision.gain_s * 1e9), time_text(decision.cost_s * 1e9));
    case Reason::seen_once:
      return fmt::format("wait: {}; to be confirmed by the next decision", gain_text(decision));
    case Reason::cooling_off:
      return fmt::format("wait: {}; the last move was too recent", gain_text(decision));
    case Reason::move:
      return fmt::format(
          "move: {}, confirmed by two decisions; with a confidence of {:.0f} %, it gains {} in "
          "{:g} "
          "s and costs {}",
          gain_text(decision), 100 * mapping::EvidenceLimits().confidence(),
          time_text(decision.gain_s * 1e9), AgentOptions().must_pay_within_s,
          time_text(decision.cost_s * 1e9));
  }
  return "";
}

}  // namespace huddle::threads
