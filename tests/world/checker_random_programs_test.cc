// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The search leaves out what it takes for a repetition. Small programs made up by chance show that
// it leaves out nothing else: what a random walk comes to, the search comes to as well.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "litmus.h"

namespace huddle::world::checker {
namespace {

enum class Kind { load, store, update, fence };
struct Step {
  Kind kind = Kind::load;
  std::size_t flag = 0;
};
// What each load and update of each rank saw.
using Ending = std::vector<std::vector<Sequence>>;
using Program = std::vector<std::vector<Step>>;

// A few steps for each of two or three ranks.
Program any_program() {
  const int ranks = *rc::gen::inRange(2, 4);
  Program program(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < program.size(); ++rank) {
    const int steps = *rc::gen::inRange(1, ranks == 2 ? 5 : 4);
    for (int i = 0; i < steps; ++i) {
      const auto kind = *rc::gen::element(Kind::load, Kind::load, Kind::store, Kind::store,
                                          Kind::update, Kind::fence);
      const auto flag = *rc::gen::inRange<std::size_t>(0, 2);
      program[rank].push_back({kind, flag});
    }
  }
  return program;
}

Job job_of(const Program& program, Ending& now, std::set<Ending>& seen) {
  Job job = litmus(static_cast<int>(program.size()), [&program, &now](CheckerWorld& w) {
    const auto me = static_cast<std::size_t>(w.rank());
    now.resize(program.size());
    now[me].clear();
    Sequence value = 1;
    for (const Step& step : program[me]) {
      // Everybody stores flags of its own and looks at the next rank's; line 2 is for updates.
      const int next = (w.rank() + 1) % w.ranks();
      if (step.kind == Kind::load) now[me].push_back(w.load(line(next, step.flag)));
      if (step.kind == Kind::store) w.store(line(w.rank(), step.flag), value++);
      if (step.kind == Kind::update) now[me].push_back(w.fetch_add(line(0, 2), 1));
      if (step.kind == Kind::fence) w.fence();
    }
  });
  job.verify = [&](const Memory&) {
    seen.insert(now);
    return "";
  };
  return job;
}

RC_GTEST_PROP(RandomPrograms, EndByTheSearchHoweverTheyEndByChance, ()) {
  const Program program = any_program();
  const auto order = *rc::gen::element(StoreOrder::x86, StoreOrder::arm);
  Ending now;
  std::set<Ending> found;
  std::set<Ending> met;
  const Result all = explore(job_of(program, now, found), {.order = order, .budget = 8});
  RC_ASSERT(all.passed() && all.exhausted);
  RC_ASSERT(sample(job_of(program, now, met), 1, 300, {.order = order}).passed());
  for (const Ending& ending : met) RC_ASSERT(found.contains(ending));
}

}  // namespace
}  // namespace huddle::world::checker
