// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The world in which a protocol is timed on a machine that need not be here: each rank has a clock,
// and the one with the smallest goes on. Flags move line by line, as the machine's latencies have
// it; data move in ranges, without contents, and copies share what they pass through. The same job
// gives the same times, always. What it leaves out: docs/model.md.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/reduction.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::protocols::model {

class Run;

class SimulatedContext {
 public:
  SimulatedContext(Run& run, int rank) : run_(run), rank_(rank) {}

  int rank() const { return rank_; }
  int ranks() const;

  // Between calls: what the caller has just written, and what it has just read. Takes no time.
  void caller_wrote(context::Address place, std::size_t bytes);
  void caller_read(context::Address place, std::size_t bytes);
  // Goes on when all have come: all at the same time. Only what follows the last one is reported.
  void meet();

  context::Sequence load(context::Address flag);
  void store(context::Address flag, context::Sequence value);
  // All ranks make equal calls here, and a stamp moves with its flag's line.
  void store_stamped(context::Address flag, context::Sequence value) { store(flag, value); }
  context::Sequence wait_stamped(context::Address flag, context::Until until) {
    return wait(flag, until);
  }
  void keep_stamp(context::Address /*place*/) {}
  void compare_stamp(context::Address /*place*/) {}
  context::Sequence fetch_add(context::Address flag, context::Sequence amount);
  context::Sequence fetch_sub(context::Address flag, context::Sequence amount) {
    return fetch_add(flag, context::Sequence{0} - amount);
  }
  // No figure tells what it costs by itself.
  void fence() {}
  context::Sequence wait(context::Address flag, context::Until until);
  int wait_any(std::span<const context::AwaitedFlag> awaited);
  void wait_all(std::span<const context::Address> flags, context::Until until);
  void prefetch_write(context::Address place, std::size_t bytes);
  void copy(context::Address to, context::Address from, std::size_t bytes,
            memory::CopyKernel kernel);
  void take(context::Address to, context::Address from, std::size_t bytes);
  void keep(context::Address place, std::size_t bytes);
  void reduce(context::Address to, context::Address left, context::Address right, std::size_t count,
              const memory::Reduction& reduction);
  bool expose(context::Address at, context::Address what);
  void order_callers_stores() {}
  std::optional<context::Address> reach(context::Address at);
  single_copy::ErrorNumber pull(context::Address to, context::Address at, std::size_t offset,
                                std::size_t bytes);
  single_copy::ErrorNumber push(context::Address at, std::size_t offset, context::Address from,
                                std::size_t bytes);
  // Nobody dies here.
  void outlast(context::Address flag, context::Until until) { wait(flag, until); }

 private:
  Run& run_;
  int rank_;
};
static_assert(context::SingleCopyContext<SimulatedContext>);

struct Job {
  std::vector<int> pus;  // the processor of each rank, no two alike
  // What every flag holds at the beginning.
  context::Sequence first = context::first_sequence;
  // Whether ranks reach what others expose, or have to pull it...
  bool reachable = false;
  // ...by that path, as in machine files.
  std::string path = {};
  bool traced = false;
  // Is called now and then, with how often all have met and the simulated time since then.
  std::function<void(int meetings, double ns)> progress = {};
  // What each rank does.
  std::function<void(SimulatedContext&)> body;
};

// Something that took a rank some time.
struct Span {
  enum class Kind { copy, wait };
  int rank = 0;
  Kind kind = Kind::copy;
  double begin_ns = 0;
  double end_ns = 0;
  std::size_t bytes = 0;  // of a copy
  int awaited_rank = 0;   // of a wait: whose flag
};

// What a job took after all had met for the last time.
struct Outcome {
  std::vector<double> ns;  // until each rank was through
  double all_ns() const;   // until the last was

  // Lines that went from one rank to another: of flags, and of data that the other one had written.
  std::size_t lines(int from, int to) const {
    return lines_between[static_cast<std::size_t>(from) * ns.size() + static_cast<std::size_t>(to)];
  }
  std::vector<std::size_t> lines_between;
  std::vector<std::string> levels;          // from the inside out; the last is the whole machine
  std::vector<std::size_t> lines_by_level;  // where both met

  struct Resource {
    std::string name;
    double gb_per_s = 0;      // that it carries
    double passed_bytes = 0;  // that passed through it
    bool is_controller = false;
  };
  std::vector<Resource> resources;
  double busy_share(const Resource& resource) const;  // of all it could have carried
  // The busiest; null where the machine's figures tell of none.
  const Resource* busiest() const;
  std::vector<std::string> not_derived;  // capacities that the machine's figures do not tell

  std::vector<Span> spans;  // where the job is traced, in the order of their ends
};

// Throws what a body throws, and FailureError where nobody can go on, with what each waits for.
// pre: the model's machine has these processors.
Outcome run(const Job& job, const machine::CostModel& model);

}  // namespace huddle::protocols::model
