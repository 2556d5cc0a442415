// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/guideline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <climits>

#include "common/error.h"
#include "common/text.h"
#include "tools/bench/harness/points.h"

namespace huddle::bench {
namespace {

using select::Operation;

std::string_view symbol(Extent extent) {
  switch (extent) {
    case Extent::nothing:
      return "";
    case Extent::element:
      return "8";
    case Extent::part:
      return "n/p";
    case Extent::whole:
      return "n";
    case Extent::all:
      return "pn";
  }
  return "";
}

std::string scaled(std::size_t scale) { return scale == 1 ? "n" : fmt::format("{}n", scale); }

std::string call_text(const Guideline& guideline) {
  const std::string_view operation = name(guideline.operation);
  if (guideline.operation == Operation::barrier) return std::string(operation);
  return fmt::format("{}({})", operation, scaled(guideline.call_scale));
}

std::string mockup_text(const Guideline& guideline) {
  if (guideline.mockup == Mockup::none) {
    return fmt::format("{}{}({})",
                       guideline.repetitions > 1 ? fmt::format("{} ", guideline.repetitions) : "",
                       name(guideline.operation), scaled(guideline.mockup_scale));
  }
  std::vector<std::string> calls;
  const MockupTraits& traits = traits_of(guideline.mockup);
  for (const Step& step : traits.steps) {
    if (step.extent == Extent::nothing) continue;
    calls.push_back(fmt::format("{}({})", name(step.operation), symbol(step.extent)));
  }
  if (traits.local != Extent::nothing) {
    calls.push_back(fmt::format("local({})", symbol(traits.local)));
  }
  return fmt::format("{}", fmt::join(calls, " + "));
}

std::size_t largest_count(const Guideline& guideline, std::size_t bytes, int ranks) {
  const std::size_t scale = std::max(guideline.call_scale, guideline.mockup_scale);
  const Extent extent = select::exchanges_blocks(guideline.operation) ||
                                select::reduces_to_blocks(guideline.operation)
                            ? Extent::all
                            : Extent::whole;
  return bytes_of(extent, scale * bytes, ranks);
}

}  // namespace

std::string text(const Guideline& guideline) {
  return call_text(guideline) + " <= " + mockup_text(guideline);
}

std::vector<Guideline> guidelines_about(const std::vector<Operation>& operations) {
  std::vector<Guideline> all;
  for (const Operation operation : operations) {
    bool is_replaced = false;
    for (const MockupTraits& traits : mockup_traits) {
      if (traits.mockup == Mockup::none || traits.operation != operation) continue;
      all.push_back({.operation = operation, .mockup = traits.mockup});
      is_replaced = true;
    }
    if (!is_replaced || operation == Operation::barrier) continue;
    all.push_back({.operation = operation, .mockup_scale = 2});
    all.push_back({.operation = operation, .call_scale = 2, .repetitions = 2});
  }
  return all;
}

std::vector<Guideline> guidelines_from(const std::string& ops) {
  std::vector<Guideline> all = guidelines_about(operations_from(ops.empty() ? "all" : ops));
  if (!all.empty()) return all;
  throw UsageError(fmt::format(
      "no guideline is about {}; 'huddle bench --guidelines --dry-run' lists them", ops));
}

std::vector<GuidelinePoint> guideline_points(const std::vector<Guideline>& guidelines,
                                             const std::vector<std::size_t>& sizes, int ranks) {
  std::vector<GuidelinePoint> points;
  for (const Guideline& guideline : guidelines) {
    if (guideline.operation == Operation::barrier) {
      points.push_back({guideline, 0});
      continue;
    }
    for (const std::size_t bytes : sizes) {
      if (largest_count(guideline, bytes, ranks) > INT_MAX) {
        throw UsageError(fmt::format("--sizes: {} is too large for '{}' on {} ranks",
                                     size_text(static_cast<double>(bytes)), text(guideline),
                                     ranks));
      }
      points.push_back({guideline, bytes});
    }
  }
  return points;
}

GuidelineVerdict verdict_of(const Estimate& estimate, double tolerance) {
  if (!estimate.sure) return GuidelineVerdict::open;
  if (estimate.low > 1 + tolerance) return GuidelineVerdict::violated;
  return estimate.high <= 1 + tolerance ? GuidelineVerdict::holds : GuidelineVerdict::open;
}

GuidelineVerdict verdict_of(const Estimate& first, const Estimate& again, double tolerance) {
  const GuidelineVerdict verdict = verdict_of(first, tolerance);
  if (verdict != GuidelineVerdict::violated) return verdict;
  return verdict_of(again, tolerance) == GuidelineVerdict::violated ? GuidelineVerdict::violated
                                                                    : GuidelineVerdict::open;
}

}  // namespace huddle::bench
