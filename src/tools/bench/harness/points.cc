// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/error.h"
#include "common/text.h"

namespace huddle::bench {
namespace {

using select::Operation;

// Reductions use doubles.
constexpr std::size_t element_bytes = 8;
// MPI counts the bytes of a broadcast in an int.
constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr std::size_t usual_factor = 4;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

// The operations in which programs spend most time. Their v-forms use the same algorithms.
constexpr Operation usual[] = {
    Operation::barrier,   Operation::bcast,     Operation::reduce,
    Operation::allreduce, Operation::allgather, Operation::alltoall,
    Operation::gather,    Operation::scatter,   Operation::reduce_scatter_block,
    Operation::scan};

// Returns all operations except alltoallw, which equals alltoallv if all data are bytes.
std::vector<Operation> timed() {
  std::vector<Operation> all(select::operations.begin(), select::operations.end());
  std::erase(all, Operation::alltoallw);
  return all;
}

Operation operation_from(const std::string& word) {
  const auto named = select::operation_named(word);
  const std::vector<Operation> all = timed();
  if (named && std::find(all.begin(), all.end(), *named) != all.end()) return *named;
  if (named) throw UsageError(fmt::format("--ops: huddle bench cannot time {}", name(*named)));
  std::vector<std::string> known;
  for (const Operation operation : all) known.emplace_back(name(operation));
  const std::string guess = did_you_mean(collective_word(word), known);
  throw UsageError(
      fmt::format("--ops: unknown word '{}'{}", word,
                  guess.empty() ? fmt::format("; use one of {}", fmt::join(known, ", ")) : guess));
}

std::size_t size_of(const std::string& word) {
  const auto bytes = size_from(word);
  if (!bytes || *bytes == 0 || *bytes % element_bytes != 0 || *bytes > most_bytes) {
    throw UsageError(fmt::format("--sizes: '{}' is not a multiple of 8 bytes up to 1G", word));
  }
  return *bytes;
}

std::size_t factor_of(const std::vector<std::string>& range) {
  if (range.size() < 3) return usual_factor;
  const auto factor = size_from(range[2]);
  if (factor && *factor > 1) return *factor;
  throw UsageError(fmt::format("--sizes: '{}' is not a factor above 1", range[2]));
}

void add_range(const std::vector<std::string>& range, std::vector<std::size_t>& sizes) {
  const std::size_t last = size_of(range[1]);
  const std::size_t factor = factor_of(range);
  std::size_t size = size_of(range[0]);
  if (size > last) throw UsageError("--sizes: a range must go from the smaller to the larger size");
  for (; size < last; size *= factor) sizes.push_back(size);
  sizes.push_back(last);
}

}  // namespace

std::vector<Operation> operations_from(const std::string& text) {
  if (text.empty()) return {std::begin(usual), std::end(usual)};
  if (text == "all") return timed();
  std::vector<Operation> chosen;
  for (const std::string& word : split(text, ',')) chosen.push_back(operation_from(word));
  return chosen;
}

std::vector<std::size_t> sizes_from(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string& word : split(text, ',')) {
    const std::vector<std::string> range = split(word, ':');
    if (range.size() == 2 || range.size() == 3) {
      add_range(range, sizes);
    } else {
      sizes.push_back(size_of(word));
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<Point> points_of(const std::vector<Operation>& operations,
                             const std::vector<std::size_t>& sizes) {
  std::vector<Point> points;
  for (const Operation operation : operations) {
    if (operation == Operation::barrier) {
      points.push_back({operation, 0});
      continue;
    }
    for (const std::size_t bytes : sizes) points.push_back({operation, bytes});
  }
  return points;
}

}  // namespace huddle::bench
