// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "streams.h"

#include <numeric>
#include <utility>
#include <variant>

#include "common/arithmetic.h"
#include "placement/mapping/random.h"

namespace huddle::threads {
namespace {

constexpr std::uint64_t ms_ns = 1'000'000;
constexpr int look_ms = 10;

// All threads are always at work.
Look look_at(int threads, std::uint64_t time_ns) {
  Look look{time_ns, {}};
  for (int thread = 0; thread < threads; ++thread)
    look.threads.push_back({thread, time_ns, thread});
  return look;
}

// Appends the touches of draw(time) for each millisecond, with looks in between.
template <typename Draw>
void pass_time(Events& events, int threads, int from_ms, int to_ms, int touches_a_ms,
               const Draw& draw) {
  for (int ms = from_ms; ms < to_ms; ++ms) {
    const std::uint64_t time_ns = static_cast<std::uint64_t>(ms) * ms_ns;
    if (ms % look_ms == 0) events.emplace_back(look_at(threads, time_ns));
    for (int i = 0; i < touches_a_ms; ++i) events.emplace_back(draw(time_ns));
  }
}

}  // namespace

Events events_of(const ChangingProgram& program) {
  constexpr int pages_a_group = 16;
  constexpr int common_pages = 64;
  mapping::Random random(program.seed);
  std::vector<int> order(at(program.threads));
  std::iota(order.begin(), order.end(), 0);
  Events events;
  for (int phase = 0; phase < program.phases; ++phase) {
    random.shuffle(order);
    const auto draw = [&](std::uint64_t time_ns) {
      const int place = random.below(program.threads);
      const int thread = order[at(place)];
      if (random.fraction() < program.elsewhere) {
        return Touch{time_ns, thread, static_cast<std::uint64_t>(random.below(common_pages)), true};
      }
      const int page = common_pages + place / program.group * pages_a_group +
                       random.below(pages_a_group) + phase * program.threads * pages_a_group;
      return Touch{time_ns, thread, static_cast<std::uint64_t>(page), true};
    };
    pass_time(events, program.threads, phase * program.phase_ms, (phase + 1) * program.phase_ms,
              program.touches_a_ms, draw);
  }
  return events;
}

Events events_of(const Passages& program) {
  constexpr int pages_an_edge = 4;
  mapping::Random random(program.seed);
  Events events;
  pass_time(events, program.threads, 0, program.milliseconds, program.touches_a_ms,
            [&](std::uint64_t time_ns) {
              // Edge e is between passages e and e + 1.
              const int edge = random.below(program.passages);
              const int side = (edge + random.below(2)) % program.passages;
              const int page = edge * pages_an_edge + random.below(pages_an_edge);
              return Touch{time_ns, side * program.threads / program.passages,
                           static_cast<std::uint64_t>(page), true};
            });
  return events;
}

std::vector<int> seats_without_order(int threads, int processors_a_socket, std::uint64_t seed) {
  const int sockets = (threads + processors_a_socket - 1) / processors_a_socket;
  std::vector<int> assignments;
  for (int i = 0; i < threads; ++i) {
    assignments.push_back(i % sockets * processors_a_socket + i / sockets);
  }
  mapping::Random(seed).shuffle(assignments);
  return assignments;
}

void assignment(Events& events, const std::vector<int>& processors) {
  for (auto& event : events) {
    auto* const look = std::get_if<Look>(&event);
    if (look == nullptr) continue;
    for (ThreadUse& use : look->threads) use.processor = processors[at(use.thread)];
  }
}

}  // namespace huddle::threads
