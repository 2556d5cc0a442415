// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "contest/engine_contests.h"

#include <fmt/format.h>

#include "base/text.h"
#include "contest/bare_flags.h"
#include "contest/bare_ring.h"
#include "contest/barriers.h"
#include "contest/team_calls.h"
#include "memory/copy.h"

namespace huddle::contest {
namespace {

using Kind = Bar::Kind;

// Some 10 us to a stretch at the least, so that the clock's 25 ns vanish; and an even number.
constexpr int calls_in_a_series = 500;
constexpr int series_in_a_round = 24;
// Turns of a core given away take microseconds each.
constexpr int crowded_calls_in_a_series = 100;
constexpr int crowded_series_in_a_round = 12;
constexpr int crowded_ranks = 8;

constexpr std::size_t large_sizes[] = {std::size_t{512} << 10, std::size_t{4} << 20};

Entry entry(std::string name, std::unique_ptr<Contender> contender, bool bare, int calls,
            int stretches) {
  return {.name = std::move(name),
          .contender = std::move(contender),
          .bare = bare,
          .calls = calls,
          .stretches = stretches};
}

Contest flags_of_two(const std::vector<int>& pus, const Scale& scale) {
  Contest contest{.name = "flags of two ranks",
                  .seating = {2, {pus[0], pus[1]}},
                  .entries = {},
                  .judgements = {}};
  const auto add = [&](std::string name, std::unique_ptr<Contender> contender, bool bare) {
    contest.entries.push_back(entry(std::move(name), std::move(contender), bare, calls_in_a_series,
                                    scale.stretches(series_in_a_round)));
  };
  add("barrier", barrier_contender(2, TeamBarrier()), false);
  add("two flags in one line", barrier_contender(2, OneLineExchange()), true);
  add("two flags in two lines", barrier_contender(2, TwoLineExchange()), true);
  add("broadcast of 8 bytes, roots in turn", std::make_unique<RotatingBcast>(), false);
  add("a line one way", std::make_unique<PingPong>(), true);
  contest.judgements = {
      {.what = "barrier, 2 ranks",
       .subject = 0,
       .rivals = {1, 2},
       .bar = {Kind::time_at_most, 1.3}},
      {.what = "broadcast of 8 bytes", .subject = 3, .rivals = {4}, .bar = {Kind::time_at_most, 2}},
  };
  return contest;
}

Contest data_of_two(const std::vector<int>& pus, std::size_t bytes, const Scale& scale) {
  const std::string size = size_text(static_cast<double>(bytes));
  Contest contest{.name = size + " between two ranks",
                  .seating = {2, {pus[0], pus[1]}},
                  .bytes = bytes,
                  .entries = {},
                  .judgements = {}};
  const auto add = [&](std::string name, std::unique_ptr<Contender> contender, bool bare) {
    contest.entries.push_back(
        entry(std::move(name), std::move(contender), bare, 1, scale.single_calls(bytes)));
  };
  add("broadcast of " + size, std::make_unique<TeamBcast>(), false);
  add("allreduce of " + size, std::make_unique<TeamAllreduce>(), false);
  std::vector<std::size_t> rings;
  for (const memory::CopyKernel kernel : memory::copy_kernels) {
    if (!memory::is_native(kernel)) continue;
    rings.push_back(contest.entries.size());
    add(fmt::format("hand-off through a ring, {}", memory::name(kernel)),
        std::make_unique<BareRing>(kernel), true);
  }
  const auto moved = static_cast<double>(bytes);
  const Bar bar{Kind::rate_at_least, 0.8};
  contest.judgements = {
      {"broadcast of " + size, 0, rings, bar, moved, moved},
      // Half of the data in, the other half joined, that half back: what a rank has to move.
      {"allreduce of " + size, 1, rings, bar, 1.5 * moved, moved},
  };
  return contest;
}

Contest crowd(const std::vector<int>& pus, const Scale& scale) {
  Contest contest{.name = "more ranks than cores",
                  .seating = {crowded_ranks, {pus[0], pus[1]}},
                  .entries = {},
                  .judgements = {}};
  const auto add = [&](std::string name, std::unique_ptr<Contender> contender, bool bare) {
    contest.entries.push_back(entry(std::move(name), std::move(contender), bare,
                                    crowded_calls_in_a_series,
                                    scale.stretches(crowded_series_in_a_round)));
  };
  add("barrier", barrier_contender(crowded_ranks, TeamBarrier()), false);
  add("a counter, and sched_yield", barrier_contender(crowded_ranks, YieldingCounter()), true);
  add("a flag each, and sched_yield",
      barrier_contender(crowded_ranks, YieldingFlags(crowded_ranks)), true);
  contest.judgements = {{.what = fmt::format("barrier, {} on 2 cores", crowded_ranks),
                         .subject = 0,
                         .rivals = {1, 2},
                         .bar = {Kind::time_at_most, 1.5}}};
  return contest;
}

}  // namespace

std::vector<Contest> engine_contests(const std::vector<int>& pus, const Scale& scale) {
  std::vector<Contest> contests;
  if (pus.size() < 2) return contests;
  contests.push_back(flags_of_two(pus, scale));
  for (const std::size_t bytes : large_sizes) {
    contests.push_back(data_of_two(pus, bytes, scale));
  }
  contests.push_back(crowd(pus, scale));
  return contests;
}

}  // namespace huddle::contest
