// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy protocols as jobs for the checker. Each call has buffers of its own, which their
// owner gives back, that is writes over, as soon as it is through: who still reads or writes there
// then is found. Where paths may fail, a call has to fail on all ranks or on none; where it makes
// up for that, on none.
#pragma once

#include <fmt/format.h>

#include "checked.h"
#include "leaving_context.h"
#include "runtime/context/errors.h"
#include "runtime/node/blocks.h"

namespace huddle::node::test {

// One call, as each rank makes it and what it has to have afterwards.
template <class Protocol>
struct DirectCall {
  // What is in the input before; in place, in the output.
  std::function<Bytes(int rank)> given;
  // What has to be at the beginning of the output; {} for nothing.
  std::function<Bytes(int rank)> wanted;
  std::function<void(Protocol& protocol, CheckedContext& w)> run;
  bool in_place = false;
  // In place: where in the output the input is.
  std::function<std::size_t(int rank)> input_at = [](int) { return 0; };
  // What a path that failed did not bring comes another way.
  bool makes_up_for_failures = false;
};

// Where things lie in a rank's input and output.
struct DirectLayout {
  std::size_t calls;
  std::size_t window;

  std::size_t buffer(std::size_t call) const { return call * window; }
  // Of the input: bytes that nobody means, and a 0 and a 1.
  std::size_t rubbish() const { return calls * window; }
  std::size_t numbers() const { return rubbish() + window; }
  // Of the output: what came, and for each call whether it failed and whether a path did in it.
  std::size_t result(std::size_t call) const { return (calls + call) * window; }
  std::size_t outcome(std::size_t call) const { return 2 * calls * window + 2 * call; }
  std::size_t input_bytes() const { return numbers() + 2; }
  std::size_t output_bytes() const { return outcome(calls); }
};

inline void move(CheckedContext& w, Region to, std::size_t at, Region from, std::size_t from_at,
                 std::size_t bytes) {
  w.copy({to, w.rank(), at}, {from, w.rank(), from_at}, bytes, memory::CopyKernel::plain);
}

template <class Protocol>
void make_direct_call(CheckedContext& w, Protocol& protocol, const DirectCall<Protocol>& call,
                      std::size_t number, const DirectLayout& layout) {
  const std::size_t buffer = layout.buffer(number);
  if (call.in_place) {
    move(w, Region::output, buffer, Region::input, buffer, layout.window);
    w.use({call.input_at(w.rank()), buffer, true});
  } else {
    w.use({buffer, buffer, false});
  }
  // What the caller has written, it has written past the caches: there is no slower way to others.
  w.store_as_caller({Region::output, w.rank(), buffer}, layout.window);
  if (!call.in_place) w.store_as_caller({Region::input, w.rank(), buffer}, layout.window);
  const int failed_before = w.path_failures();
  bool failed = false;
  try {
    call.run(protocol, w);
  } catch (const context::PathFailed&) {
    failed = true;
  }
  w.use({});
  move(w, Region::output, layout.result(number), Region::output, buffer, layout.window);
  move(w, Region::output, buffer, Region::input, layout.rubbish(), layout.window);
  move(w, Region::input, buffer, Region::input, layout.rubbish(), layout.window);
  const auto note = [&](std::size_t at, bool is_so) {
    move(w, Region::output, layout.outcome(number) + at, Region::input,
         layout.numbers() + (is_so ? 1 : 0), 1);
  };
  note(0, failed);
  note(1, w.path_failures() > failed_before);
}

template <class Protocol>
std::string direct_difference(const check::checker::Memory& memory,
                              const std::vector<DirectCall<Protocol>>& calls,
                              const DirectLayout& layout) {
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const auto noted = [&](int rank, std::size_t what) {
      return memory.bytes(Region::output, rank)[layout.outcome(call) + what] != std::byte{0};
    };
    bool any_failed = false;
    for (int rank = 0; rank < memory.ranks(); ++rank) any_failed |= noted(rank, 1);
    any_failed &= !calls[call].makes_up_for_failures;
    for (int rank = 0; rank < memory.ranks(); ++rank) {
      const std::string who = "call " + std::to_string(call) + ": rank " + std::to_string(rank);
      if (noted(rank, 0) != any_failed) return who + (any_failed ? " did not fail" : " failed");
      if (any_failed) continue;
      const Bytes wanted = calls[call].wanted(rank);
      const auto got = memory.bytes(Region::output, rank).subspan(layout.result(call));
      if (!std::equal(wanted.begin(), wanted.end(), got.begin()))
        return who + " has something else";
    }
  }
  return {};
}

// make(rank) makes a rank's protocol.
template <class Protocol, class Make>
Job direct_job(int ranks, Make make, const std::vector<DirectCall<Protocol>>& calls) {
  DirectLayout layout{calls.size(), 1};
  for (const auto& call : calls) {
    for (int rank = 0; rank < ranks; ++rank) {
      layout.window = std::max({layout.window, call.given(rank).size(), call.wanted(rank).size()});
    }
  }
  Job job;
  job.ranks = ranks;
  job.sizes.shared = round_up(make(0).shared_bytes(), apart_bytes);
  job.sizes.input = layout.input_bytes();
  job.sizes.output = layout.output_bytes();
  if constexpr (requires(const Protocol& protocol) { protocol.scratch_bytes(); }) {
    job.sizes.scratch = make(0).scratch_bytes();
  }
  job.prepare = [=](check::checker::Memory& memory) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto input = memory.bytes(Region::input, rank);
      for (std::size_t call = 0; call < calls.size(); ++call) {
        place(input, layout.buffer(call), calls[call].given(rank));
      }
      place(input, layout.numbers(), {std::byte{0}, std::byte{1}});
    }
  };
  job.body = [=](CheckedContext& w) {
    Protocol protocol = make(w.rank());
    for (std::size_t call = 0; call < calls.size(); ++call) {
      make_direct_call(w, protocol, calls[call], call, layout);
    }
  };
  job.verify = [=](const check::checker::Memory& memory) {
    return direct_difference(memory, calls, layout);
  };
  return job;
}

// One call, in which rank 0 leaves after so many waits, and the others when they hear of it.
// Whoever has left uses its buffers for something else at once; who has not has what it has to
// have. run(protocol, world) is the call.
template <class Protocol, class Make, class Run>
Job leaving_job(int ranks, Make make, const DirectCall<Protocol>& call, Run run, int waits) {
  constexpr std::byte rubbish{0xEE};
  const std::size_t flag = round_up(make(0).shared_bytes(), apart_bytes);
  const News news({Region::shared, 0, flag});
  Job job = direct_job<Protocol>(ranks, make, {call});
  const std::size_t window = job.sizes.input;
  job.sizes = {flag + apart_bytes, 2 * window, window + 1, job.sizes.scratch};
  job.prepare = [=](check::checker::Memory& memory) {
    News::prepare(memory.bytes(Region::shared, 0).subspan(flag));
    for (int rank = 0; rank < ranks; ++rank) {
      const auto input = memory.bytes(Region::input, rank);
      std::ranges::fill(input, rubbish);
      place(input, 0, call.given(rank));
      memory.bytes(Region::output, rank)[window] = std::byte{0};
    }
  };
  job.body = [=](CheckedContext& w) {
    Protocol protocol = make(w.rank());
    LeavingContext world(w, news, w.rank() == 0 ? std::optional(waits) : std::nullopt);
    try {
      run(protocol, world);
    } catch (const context::PeerLost&) {
      move(w, Region::output, 0, Region::input, window, window);
      move(w, Region::output, window, Region::input, window, 1);
      move(w, Region::input, 0, Region::input, window, window);
    }
  };
  job.verify = [=](const check::checker::Memory& memory) -> std::string {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto output = memory.bytes(Region::output, rank);
      const bool has_left = output[window] == rubbish;
      const Bytes wanted = has_left ? Bytes(window, rubbish) : call.wanted(rank);
      if (!std::equal(wanted.begin(), wanted.end(), output.begin())) {
        return fmt::format("rank {}, which {}, has something else", rank,
                           has_left ? "has left" : "has not left");
      }
    }
    return {};
  };
  return job;
}

inline Job with_failing_paths(Job job) {
  job.paths_may_fail = true;
  return job;
}

// The others reach the memory of these ranks.
inline Job with_reachable(Job job, const std::function<bool(int owner)>& whose) {
  job.reachable = whose;
  return job;
}

// One rank's blocks for each, or from each, one after another.
inline std::vector<Block> row(int ranks, const std::function<std::size_t(int)>& bytes) {
  std::vector<Block> blocks;
  std::ptrdiff_t at = 0;
  for (int other = 0; other < ranks; ++other) {
    blocks.push_back({at, bytes(other)});
    at += static_cast<std::ptrdiff_t>(bytes(other));
  }
  return blocks;
}

// In which rank 0 leaves, at any of its waits.
template <class Protocol, class Make, class Run>
std::vector<Job> leaving_jobs(int ranks, int most_waits, Make make,
                              const DirectCall<Protocol>& call, Run run) {
  std::vector<Job> jobs;
  for (int waits = 0; waits < most_waits; ++waits) {
    jobs.push_back(leaving_job<Protocol>(ranks, make, call, run, waits));
  }
  return jobs;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// What a failure is told by is no flag that anything else follows.
inline const std::vector<Excuse> told_before_the_flag = {
    {Fault::relaxed, "w.store(failure_at(", "the store of the flag that follows orders it"},
    {Fault::relaxed, "w.load(failure_at(", "whoever looks has seen that flag, and reads no more"}};

inline const std::vector<Excuse> excuses_with_departures = [] {
  std::vector<Excuse> excuses = told_before_the_flag;
  excuses.push_back({Fault::relaxed, "w.load(left_.of(owner))",
                     "whoever sees that the owner is gone does nothing more"});
  return excuses;
}();

}  // namespace huddle::node::test
