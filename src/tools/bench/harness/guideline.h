// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Performance guidelines: a specialised collective should take at most as long as its mock-up,
// which returns the same result by other collectives, and times should grow sensibly with size.
// The rank programs use this header without guideline.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/select/operation.h"
#include "tools/bench/harness/ratio.h"

namespace huddle::bench {

// The name of a mock-up consists of the operation that it replaces and of its calls.
enum class Mockup : std::uint8_t {
  none,  // the operation itself
  barrier_by_allreduce,
  bcast_by_scatter_allgather,
  reduce_by_allreduce,
  reduce_by_scattered_gather,
  allreduce_by_reduce_bcast,
  allreduce_by_scattered_allgather,
  allgather_by_gather_bcast,
  allgather_by_alltoall,
  allgather_by_allreduce,
  allgather_by_allgatherv,
  alltoall_by_alltoallv,
  gather_by_allgather,
  gather_by_reduce,
  gather_by_gatherv,
  scatter_by_bcast,
  scatter_by_scatterv,
  reduce_scatter_block_by_reduce_scatter,
  reduce_scatter_block_by_reduce_then_scatter,
  reduce_scatter_block_by_allreduce,
  scan_by_exscan,
  exscan_by_scan,
};

// A number of bytes relative to the n bytes of the replaced call on p ranks.
enum class Extent : std::uint8_t {
  nothing,
  element,  // one double
  part,     // n/p, rounded up to whole doubles
  whole,    // n
  all,      // pn
};

constexpr std::size_t bytes_of(Extent extent, std::size_t bytes, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t elements = (bytes + sizeof(double) - 1) / sizeof(double);
  switch (extent) {
    case Extent::nothing:
      return 0;
    case Extent::element:
      return sizeof(double);
    case Extent::part:
      return (elements + p - 1) / p * sizeof(double);
    case Extent::whole:
      return bytes;
    case Extent::all:
      return bytes * p;
  }
  return 0;
}

// One call of a mock-up. The extent is that of a message or a block, as in Order::bytes.
struct Step {
  select::Operation operation = select::Operation::barrier;
  Extent extent = Extent::nothing;  // nothing: there is no such step
};

struct MockupTraits {
  Mockup mockup = Mockup::none;
  select::Operation operation = select::Operation::barrier;  // the replaced one
  std::array<Step, 2> steps = {};
  // Bytes that each rank copies or reduces besides these calls.
  Extent local = Extent::nothing;
};

// Indexed by Mockup.
inline constexpr std::array<MockupTraits, 22> mockup_traits = [] {
  using enum select::Operation;
  using enum Mockup;
  using enum Extent;
  return std::array<MockupTraits, 22>{{
      {none, barrier, {}, nothing},
      {barrier_by_allreduce, barrier, {{{allreduce, element}}}, nothing},
      {bcast_by_scatter_allgather, bcast, {{{scatter, part}, {allgather, part}}}, nothing},
      {reduce_by_allreduce, reduce, {{{allreduce, whole}}}, nothing},
      {reduce_by_scattered_gather,
       reduce,
       {{{reduce_scatter_block, part}, {gather, part}}},
       nothing},
      {allreduce_by_reduce_bcast, allreduce, {{{reduce, whole}, {bcast, whole}}}, nothing},
      {allreduce_by_scattered_allgather,
       allreduce,
       {{{reduce_scatter_block, part}, {allgather, part}}},
       nothing},
      {allgather_by_gather_bcast, allgather, {{{gather, whole}, {bcast, all}}}, nothing},
      {allgather_by_alltoall, allgather, {{{alltoall, whole}}}, all},
      {allgather_by_allreduce, allgather, {{{allreduce, all}}}, all},
      {allgather_by_allgatherv, allgather, {{{allgatherv, whole}}}, nothing},
      {alltoall_by_alltoallv, alltoall, {{{alltoallv, whole}}}, nothing},
      {gather_by_allgather, gather, {{{allgather, whole}}}, nothing},
      {gather_by_reduce, gather, {{{reduce, all}}}, all},
      {gather_by_gatherv, gather, {{{gatherv, whole}}}, nothing},
      {scatter_by_bcast, scatter, {{{bcast, all}}}, whole},
      {scatter_by_scatterv, scatter, {{{scatterv, whole}}}, nothing},
      {reduce_scatter_block_by_reduce_scatter,
       reduce_scatter_block,
       {{{reduce_scatter, whole}}},
       nothing},
      {reduce_scatter_block_by_reduce_then_scatter,
       reduce_scatter_block,
       {{{reduce, all}, {scatter, whole}}},
       nothing},
      {reduce_scatter_block_by_allreduce, reduce_scatter_block, {{{allreduce, all}}}, whole},
      {scan_by_exscan, scan, {{{exscan, whole}}}, whole},
      {exscan_by_scan, exscan, {{{scan, whole}}}, whole},
  }};
}();
static_assert([] {
  for (std::size_t i = 0; i < mockup_traits.size(); ++i) {
    if (mockup_traits[i].mockup != static_cast<Mockup>(i)) return false;
  }
  return true;
}());
constexpr const MockupTraits& traits_of(Mockup mockup) {
  return mockup_traits[static_cast<std::size_t>(mockup)];
}

// Returns the largest extent of a mock-up's calls and local work.
constexpr std::size_t scratch_bytes(Mockup mockup, std::size_t bytes, int ranks) {
  const MockupTraits& traits = traits_of(mockup);
  std::size_t most = bytes_of(traits.local, bytes, ranks);
  for (const Step& step : traits.steps) {
    most = std::max(most, bytes_of(step.extent, bytes, ranks));
  }
  return most;
}

// A guideline: `operation` with call_scale times n bytes takes at most `repetitions` times as long
// as its mock-up with mockup_scale times n bytes.
struct Guideline {
  select::Operation operation = select::Operation::barrier;
  Mockup mockup = Mockup::none;
  std::size_t call_scale = 1;
  std::size_t mockup_scale = 1;
  int repetitions = 1;

  bool operator==(const Guideline&) const = default;
};

struct GuidelinePoint {
  Guideline guideline;
  std::size_t bytes = 0;  // n; 0 for a barrier

  bool operator==(const GuidelinePoint&) const = default;
};

// Returns for example "gather(n) <= reduce(pn)" or "bcast(2n) <= 2 bcast(n)".
std::string text(const Guideline& guideline);

// Returns the guidelines about these operations: those with a mock-up, that n bytes take at most as
// long as 2n bytes, and that 2n bytes take at most twice as long as n bytes.
std::vector<Guideline> guidelines_about(const std::vector<select::Operation>& operations);

// Parses a list of operations as in --ops; an empty text and "all" stand for all. Throws UsageError
// if no guideline is about them.
std::vector<Guideline> guidelines_from(const std::string& ops);

// Returns all combinations, guideline by guideline. Throws UsageError if the counts of a call would
// exceed the range of an int.
std::vector<GuidelinePoint> guideline_points(const std::vector<Guideline>& guidelines,
                                             const std::vector<std::size_t>& sizes, int ranks);

// The result of comparing the interval of the ratio of both times with a guideline.
enum class GuidelineVerdict : std::uint8_t {
  holds,     // the interval does not exceed 1 + tolerance
  violated,  // the interval lies entirely above
  open,      // the interval contains it, or there are too few batches for an interval
};
inline constexpr std::array<std::string_view, 3> guideline_verdict_names = {"holds", "violated",
                                                                            "open"};
constexpr std::string_view name(GuidelineVerdict verdict) {
  return guideline_verdict_names[static_cast<std::size_t>(verdict)];
}

// Returns the verdict on an estimate of the call's time divided by the mock-up's.
GuidelineVerdict verdict_of(const Estimate& estimate, double tolerance);

// Returns the verdict of a measurement that was repeated: a violation has to be found twice,
// because among hundreds of intervals some miss the true ratio.
GuidelineVerdict verdict_of(const Estimate& first, const Estimate& again, double tolerance);

// The interval of a point that is complete is this wide, so a smaller difference cannot be
// established.
inline constexpr double usual_tolerance = 0.05;

}  // namespace huddle::bench
