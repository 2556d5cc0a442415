// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The search omits executions that it considers repetitions. Random small programs test that it
// omits nothing else: it reaches the same outcomes as a plain enumeration of a machine with store
// buffers, which has no fibers, clocks, budgets or states.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "litmus.h"

namespace huddle::check::checker {
namespace {

enum class Kind { load, store, update, fence };
struct Step {
  Kind kind = Kind::load;
  std::size_t flag = 0;
};
// The values that the loads and updates of each rank saw.
using Ending = std::vector<std::vector<context::Sequence>>;
using Program = std::vector<std::vector<Step>>;

// Generates a few steps for each of two or three ranks.
Program any_program() {
  const int ranks = *rc::gen::inRange(2, 4);
  Program program(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < program.size(); ++rank) {
    const int steps = *rc::gen::inRange(1, ranks == 2 ? 5 : 3);
    for (int i = 0; i < steps; ++i) {
      const auto kind = *rc::gen::element(Kind::load, Kind::load, Kind::store, Kind::store,
                                          Kind::update, Kind::fence);
      // Mostly the same flag, because programs without contention test nothing.
      const std::size_t flag = *rc::gen::inRange(0, 4) == 0 ? 1 : 0;
      program[rank].push_back({kind, flag});
    }
  }
  return program;
}

Job job_of(const Program& program, Ending& now, std::set<Ending>& seen) {
  Job job = litmus(static_cast<int>(program.size()), [&program, &now](CheckedContext& ctx) {
    const auto me = static_cast<std::size_t>(ctx.rank());
    now.resize(program.size());
    now[me].clear();
    context::Sequence value = 1;
    for (const Step& step : program[me]) {
      // Every rank stores its own flags and loads those of the next rank; line 2 is for updates.
      const int next = (ctx.rank() + 1) % ctx.ranks();
      if (step.kind == Kind::load) now[me].push_back(ctx.load(line(next, step.flag)));
      if (step.kind == Kind::store) ctx.store(line(ctx.rank(), step.flag), value++);
      if (step.kind == Kind::update) now[me].push_back(ctx.fetch_add(line(0, 2), 1));
      if (step.kind == Kind::fence) ctx.fence();
    }
  });
  job.verify = [&](const Memory&) {
    seen.insert(now);
    return "";
  };
  return job;
}

// State of a program on the simplest possible machine.
struct Moment {
  struct Pending {
    std::size_t flag = 0;
    context::Sequence value = 0;
    bool is_update = false;
    auto operator<=>(const Pending&) const = default;
  };
  struct Core {
    std::size_t done = 0;  // executed steps
    context::Sequence next_value = 1;
    std::vector<Pending> buffer;  // stores become visible from the front
    auto operator<=>(const Core&) const = default;
  };
  std::vector<Core> cores;
  // two flags per rank, then the flag that all ranks update
  std::vector<context::Sequence> memory;
  Ending ending;
  auto operator<=>(const Moment&) const = default;
};

class Enumeration {
 public:
  Enumeration(const Program& program, StoreOrder order) : program_(program), order_(order) {
    const std::size_t ranks = program.size();
    visit({std::vector<Moment::Core>(ranks), std::vector<context::Sequence>(2 * ranks + 1),
           Ending(ranks)});
  }
  const std::set<Ending>& endings() const { return endings_; }

 private:
  void visit(const Moment& now) {
    if (!seen_.insert(now).second) return;
    bool is_end = true;
    for (std::size_t rank = 0; rank < program_.size(); ++rank) {
      const Moment::Core& core = now.cores[rank];
      if (core.done < program_[rank].size()) {
        is_end = false;
        step(now, rank);
      }
      if (!core.buffer.empty()) {
        is_end = false;
        Moment next = now;
        drain(next, rank);
        visit(next);
      }
    }
    if (is_end) endings_.insert(now.ending);
  }

  static void drain(Moment& next, std::size_t rank) {
    auto& buffer = next.cores[rank].buffer;
    next.memory[buffer.front().flag] = buffer.front().value;
    buffer.erase(buffer.begin());
  }

  void step(Moment next, std::size_t rank) {
    Moment::Core& core = next.cores[rank];
    const Step& step = program_[rank][core.done++];
    const std::size_t counter = next.memory.size() - 1;
    switch (step.kind) {
      case Kind::load:
        next.ending[rank].push_back(next.memory[2 * ((rank + 1) % program_.size()) + step.flag]);
        break;
      case Kind::store:
        core.buffer.push_back({2 * rank + step.flag, core.next_value++, false});
        break;
      case Kind::update:
        if (!core.buffer.empty() || is_being_updated(next)) return;
        next.ending[rank].push_back(next.memory[counter]);
        core.buffer.push_back({counter, next.memory[counter] + 1, true});
        if (order_ == StoreOrder::x86) drain(next, rank);
        break;
      case Kind::fence:
        if (!core.buffer.empty()) return;
        break;
    }
    visit(next);
  }

  static bool is_being_updated(const Moment& now) {
    for (const Moment::Core& core : now.cores) {
      for (const auto& pending : core.buffer) {
        if (pending.is_update) return true;
      }
    }
    return false;
  }

  const Program& program_;
  StoreOrder order_;
  std::set<Moment> seen_;
  std::set<Ending> endings_;
};

RC_GTEST_PROP(RandomPrograms, SearchFindsExactlyThePossibleOutcomes, ()) {
  const Program program = any_program();
  const auto order = *rc::gen::element(StoreOrder::x86, StoreOrder::arm);
  Ending now;
  std::set<Ending> found;
  // More than the number of costly choices in any of these programs.
  const Result all = explore(job_of(program, now, found), {.order = order, .budget = 16});
  RC_ASSERT(all.passed() && all.exhausted);
  RC_ASSERT(found == Enumeration(program, order).endings());
}

RC_GTEST_PROP(RandomPrograms, SampleFindsOnlyPossibleOutcomes, ()) {
  const Program program = any_program();
  Ending now;
  std::set<Ending> met;
  RC_ASSERT(sample(job_of(program, now, met), 1, 100).passed());
  const Enumeration all(program, StoreOrder::arm);
  for (const Ending& ending : met) RC_ASSERT(all.endings().contains(ending));
}

}  // namespace
}  // namespace huddle::check::checker
