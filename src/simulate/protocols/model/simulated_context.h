// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// SimulatedContext predicts the time of a protocol on a machine that need not be available. Each
// rank has a clock, and the rank with the earliest clock runs next. Flags move by cache line with
// the machine's latencies. Data move in ranges, without contents, and concurrent copies share
// resources. Results are deterministic. docs/model.md describes what is not modelled.
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

  // Records that the application wrote or read this data between calls. Takes no simulated time.
  void caller_wrote(context::Address place, std::size_t bytes);
  void caller_read(context::Address place, std::size_t bytes);
  // Barrier: all ranks continue at the same time. The outcome includes only what follows the last
  // one.
  void meet();

  context::Sequence load(context::Address flag);
  void store(context::Address flag, context::Sequence value);
  // Stamps take no time: they never differ, because all ranks make equal calls, and each is in the
  // cache line of its flag.
  void store_stamped(context::Address flag, context::Sequence value) { store(flag, value); }
  context::Sequence wait_stamped(context::Address flag, context::Until until) {
    return wait(flag, until);
  }
  void record_stamp(context::Address /*place*/) {}
  void compare_stamp(context::Address /*place*/) {}
  context::Sequence fetch_add(context::Address flag, context::Sequence amount);
  context::Sequence fetch_sub(context::Address flag, context::Sequence amount) {
    return fetch_add(flag, context::Sequence{0} - amount);
  }
  // Takes no time, because no machine file has the cost of a fence alone.
  void fence() {}
  context::Sequence wait(context::Address flag, context::Until until);
  int wait_any(std::span<const context::AwaitedFlag> awaited);
  void wait_all(std::span<const context::Address> flags, context::Until until);
  void prefetch_write(context::Address place, std::size_t bytes);
  void copy(context::Address to, context::Address from, std::size_t bytes,
            memory::CopyKernel kernel);
  void copy_and_own(context::Address to, context::Address from, std::size_t bytes);
  void own(context::Address place, std::size_t bytes);
  void reduce(context::Address to, context::Address left, context::Address right, std::size_t count,
              const memory::Reduction& reduction);
  bool expose(context::Address at, context::Address what);
  void order_callers_stores() {}
  std::optional<context::Address> map_exposed(context::Address at);
  single_copy::ErrorNumber pull(context::Address to, context::Address at, std::size_t offset,
                                std::size_t bytes);
  single_copy::ErrorNumber push(context::Address at, std::size_t offset, context::Address from,
                                std::size_t bytes);
  // No rank dies in a simulation.
  void wait_or_owner_death(context::Address flag, context::Until until) { wait(flag, until); }

 private:
  Run& run_;
  int rank_;
};
static_assert(context::SingleCopyContext<SimulatedContext>);

struct Job {
  std::vector<int> pus;  // the hardware thread of each rank, all different
  // The initial value of every flag.
  context::Sequence first = context::first_sequence;
  // If true, ranks access exposed memory of their peers directly; otherwise they copy it...
  bool reachable = false;
  // ...by this path, as named in machine files.
  std::string path = {};
  bool traced = false;
  // Called regularly with the number of meet() barriers so far and the simulated time since the
  // last.
  std::function<void(int meetings, double ns)> progress = {};
  // The function that each rank runs.
  std::function<void(SimulatedContext&)> body;
};

// A period in which a rank copied or waited.
struct Span {
  enum class Kind { copy, wait };
  int rank = 0;
  Kind kind = Kind::copy;
  double begin_ns = 0;
  double end_ns = 0;
  std::size_t bytes = 0;  // of a copy
  int awaited_rank = 0;   // of a wait: the owner of the flag
};

// The result of a job after its last meet().
struct Outcome {
  std::vector<double> ns;  // until each rank finished
  double all_ns() const;   // until the last rank finished

  // Number of cache lines transferred from one rank to another: lines of flags, and lines of data
  // that `from` had written.
  std::size_t lines(int from, int to) const {
    return lines_between[static_cast<std::size_t>(from) * ns.size() + static_cast<std::size_t>(to)];
  }
  std::vector<std::size_t> lines_between;
  std::vector<std::string> levels;          // from the innermost; the last is the whole machine
  std::vector<std::size_t> lines_by_level;  // by the innermost level that contains both ranks

  struct Resource {
    std::string name;
    double gb_per_s = 0;      // capacity
    double passed_bytes = 0;  // number of bytes that passed through it
    bool is_controller = false;
  };
  std::vector<Resource> resources;
  double busy_share(const Resource& resource) const;  // fraction of its capacity
  // Returns the busiest resource; null if the machine's figures contain none.
  const Resource* busiest() const;
  std::vector<std::string> not_derived;  // capacities that the machine's figures lack

  std::vector<Span> spans;  // in order of their ends, if the job is traced
};

// Simulates a job. Rethrows an exception of a body. Throws FailureError with the flags that each
// rank waits for if there is a deadlock.
// Requires: the model's machine has the hardware threads `pus`.
Outcome run(const Job& job, const machine::CostModel& model);

}  // namespace huddle::protocols::model
