// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/schedules/schedule.h"

#include <fmt/format.h>
#include <algorithm>
#include <cassert>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace huddle::schedules {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::allgather:
      return "allgather";
    case Operation::bcast:
      return "bcast";
    case Operation::barrier:
      return "barrier";
    case Operation::allreduce:
      return "allreduce";
    case Operation::reduce:
      return "reduce";
    case Operation::reduce_scatter:
      return "reduce_scatter";
    case Operation::alltoall:
      return "alltoall";
    case Operation::gather:
      return "gather";
    case Operation::scatter:
      return "scatter";
    case Operation::scan:
      return "scan";
    case Operation::exscan:
      return "exscan";
  }
  return {};
}

bool has_root(Operation operation) {
  return operation == Operation::bcast || operation == Operation::reduce ||
         operation == Operation::gather || operation == Operation::scatter;
}

bool reduces(Operation operation) {
  return operation == Operation::allreduce || operation == Operation::reduce ||
         operation == Operation::reduce_scatter || operation == Operation::scan ||
         operation == Operation::exscan;
}

namespace {

std::int64_t round_circle(std::int64_t number, std::int64_t modulo) {
  const std::int64_t rest = number % modulo;
  return rest < 0 ? rest + modulo : rest;
}

std::string interval_text(std::int64_t first, std::int64_t length) {
  return length == 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, first + length - 1);
}

}  // namespace

Blocks Blocks::interval(std::int64_t first, std::int64_t count) {
  Blocks blocks;
  blocks.add({first, count, 1, 0});
  return blocks;
}

Blocks Blocks::circular(std::int64_t first, std::int64_t count, std::int64_t modulo) {
  Blocks blocks;
  blocks.add_circular({first, count, 1, 0}, modulo);
  return blocks;
}

Blocks Blocks::strided(std::int64_t first, std::int64_t stride, std::int64_t count,
                       std::int64_t modulo) {
  Blocks blocks;
  blocks.add_circular({first, 1, count, stride}, modulo);
  return blocks;
}

void Blocks::add(const Run& run) {
  if (run.count() <= 0) return;
  Run added = run;
  if (added.repeats == 1) added.stride = 0;
  if (added.stride == added.length) added = {added.first, added.count(), 1, 0};
  if (size_ == most) throw std::logic_error("a schedule with more runs of blocks than it may have");
  runs_[size_++] = added;
}

// A run covers the circle at most once, so it wraps at most once: between two intervals or within
// one.
void Blocks::add_circular(const Run& run, std::int64_t modulo) {
  assert(run.count() <= modulo);
  if (run.count() <= 0) return;
  const std::int64_t begin = round_circle(run.first, modulo);
  const std::int64_t end = begin + run.length;
  std::int64_t straight = end <= modulo ? 1 : 0;
  if (straight > 0 && run.stride != 0) {
    const std::int64_t room = run.stride < 0 ? begin : modulo - end;
    straight = std::min(run.repeats, 1 + room / std::abs(run.stride));
  }
  add({begin, run.length, straight, run.stride});
  Run rest = {begin + straight * run.stride, run.length, run.repeats - straight, run.stride};
  if (rest.repeats <= 0) return;
  rest.first = round_circle(rest.first, modulo);
  if (const std::int64_t before = modulo - rest.first; before < rest.length) {
    add({rest.first, before, 1, 0});
    add({0, rest.length - before, 1, 0});
    rest = {round_circle(rest.first + rest.stride, modulo), rest.length, rest.repeats - 1,
            rest.stride};
  }
  add(rest);
}

std::int64_t Blocks::count() const {
  return std::accumulate(begin(), end(), std::int64_t{0},
                         [](std::int64_t sum, const Run& run) { return sum + run.count(); });
}

std::string Blocks::text() const {
  constexpr std::int64_t most_repeats = 8;
  std::string text;
  for (const Run& run : *this) {
    for (std::int64_t i = 0; i < run.repeats; ++i) {
      if (!text.empty()) text += ' ';
      if (run.repeats > most_repeats && i == 3) {
        text += "... ";
        i = run.repeats - 1;
      }
      text += interval_text(run.first + i * run.stride, run.length);
    }
  }
  return text;
}

bool Blocks::operator==(const Blocks& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

void Round::clear() {
  receives.clear();
  sends.clear();
  work.clear();
}

Shares::Shares(std::span<const std::int64_t> counts)
    : least_(*std::min_element(counts.begin(), counts.end())),
      most_(*std::max_element(counts.begin(), counts.end())) {
  if (most_ == 1) return;
  std::vector<std::int64_t> starts = {0};
  for (const std::int64_t count : counts) starts.push_back(starts.back() + count);
  starts_ = std::make_shared<const std::vector<std::int64_t>>(std::move(starts));
}

void Schedule::make(int rank, std::int64_t number, Round& round) const {
  assert(rank >= 0 && rank < ranks() && number >= 0 && number < rounds());
  round.clear();
  fill(rank, number, round);
}

int Schedule::at_distance(int rank, std::int64_t distance) const {
  return static_cast<int>(round_circle(rank + distance, ranks()));
}

Sizes Sizes::equal(std::size_t bytes) {
  Sizes sizes;
  sizes.elements_ = bytes;
  return sizes;
}

Sizes Sizes::cut(std::size_t count, std::size_t element, std::int64_t blocks) {
  Sizes sizes;
  sizes.elements_ = count;
  sizes.element_bytes_ = element;
  sizes.blocks_ = static_cast<std::size_t>(blocks);
  return sizes;
}

Sizes Sizes::listed(std::span<const std::size_t> bytes) {
  std::vector<std::size_t> starts;
  starts.reserve(bytes.size() + 1);
  starts.push_back(0);
  for (const std::size_t size : bytes) starts.push_back(starts.back() + size);
  Sizes sizes;
  sizes.starts_ = std::make_shared<const std::vector<std::size_t>>(std::move(starts));
  return sizes;
}

bool Sizes::operator==(const Sizes& other) const {
  if (starts_ != other.starts_) return starts_ && other.starts_ && *starts_ == *other.starts_;
  return elements_ == other.elements_ && element_bytes_ == other.element_bytes_ &&
         blocks_ == other.blocks_;
}

std::size_t Sizes::offset(std::int64_t block) const {
  const auto number = static_cast<std::size_t>(block);
  if (starts_) return (*starts_)[number];
  // In two steps, because the product of many elements and many blocks may overflow.
  const std::size_t whole = elements_ / blocks_;
  const std::size_t rest = elements_ % blocks_;
  return (whole * number + rest * number / blocks_) * element_bytes_;
}

std::size_t Sizes::bytes(const Blocks& blocks) const {
  std::size_t sum = 0;
  for (const Run& run : blocks) {
    if (!starts_ && elements_ % blocks_ == 0) {
      sum += bytes(0) * static_cast<std::size_t>(run.count());
      continue;
    }
    for (std::int64_t i = 0; i < run.repeats; ++i) {
      const std::int64_t first = run.first + i * run.stride;
      sum += offset(first + run.length) - offset(first);
    }
  }
  return sum;
}

}  // namespace huddle::schedules
