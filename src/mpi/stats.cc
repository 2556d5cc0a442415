// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/stats.h"

#include <fmt/format.h>

#include <new>

#include "base/text.h"

namespace huddle::mpi {

void Stats::add(select::Operation operation, Passed why, std::string_view algorithm,
                std::size_t bytes, double seconds) {
  const std::lock_guard lock(mutex_);
  try {
    Sum& sum = rows_[{operation, why, std::string(algorithm)}];
    ++sum.calls;
    sum.bytes += bytes;
    sum.seconds += seconds;
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Stats::taken(select::Operation operation, std::string_view algorithm, std::size_t bytes,
                  double seconds) {
  add(operation, Passed::not_passed, algorithm, bytes, seconds);
}

void Stats::passed(select::Operation operation, Passed why, std::size_t bytes, double seconds) {
  add(operation, why, "", bytes, seconds);
}

void Stats::remark(std::string_view sentence) {
  const std::lock_guard lock(mutex_);
  try {
    ++remarks_[std::string(sentence)];
  } catch (const std::bad_alloc&) {
    return;
  }
}

namespace {

// 12,040
std::string grouped(std::size_t number) {
  constexpr std::size_t group = 3;
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % group == 0) text.push_back(',');
    text.push_back(digits[at]);
  }
  return text;
}

}  // namespace

std::string summary(Shares shares, const huddle_door& door) {
  for (std::size_t i = 0; i < door.passed_count; ++i)
    shares.passed += huddle_counted_calls(&door.passed[i]);
  if (shares.taken + shares.passed == 0) return "";
  return fmt::format(
      "huddle: {} collectives of rank 0 taken, {} passed to the MPI (--stats says which)\n",
      grouped(shares.taken), grouped(shares.passed));
}

std::string Stats::report(const huddle_door& door) const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("huddle: collectives of rank 0\n{:<24}{:>10}{:>14}{:>12}  {}\n",
                                 "operation", "calls", "bytes", "seconds", "how");
  for (const auto& [row, sum] : rows_) {
    const std::string how =
        row.why == Passed::not_passed ? row.algorithm : fmt::format("MPI: {}", words(row.why));
    text += fmt::format("{:<24}{:>10}{:>14}{:>12.6f}  {}\n", select::name(row.operation), sum.calls,
                        sum.bytes, sum.seconds, how);
  }
  for (std::size_t i = 0; i < door.passed_count; ++i) {
    const huddle_passed& passed = door.passed[i];
    const unsigned long calls = huddle_counted_calls(&passed);
    if (calls == 0) continue;
    text +=
        fmt::format("{:<24}{:>10}{:>14}{:>12}  MPI: not taken yet\n", passed.name, calls, "-", "-");
  }
  for (const auto& [sentence, times] : remarks_) text += fmt::format("  {}\n", sentence);
  return text;
}

}  // namespace huddle::mpi
