// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/job_exchange.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace huddle::mpi {
namespace {

// Returns the report in the form in which it is sent, or an empty string if there is no memory.
std::string sent(RankReport& mine, int ranks) {
  try {
    const std::size_t groups = std::max<std::size_t>(1, mine.groups.size());
    for (GroupCalls& group : mine.groups) group.thin(sample_limit(ranks) / groups);
    return mine.bytes();
  } catch (const std::bad_alloc&) {
    return {};
  }
}

// Returns where the report of each rank begins; the last element is the end. Empty if the reports
// are too large for one MPI call.
std::vector<int> starts_of(const std::vector<int>& sizes) {
  std::vector<int> starts = {0};
  std::int64_t end = 0;
  for (const int size : sizes) {
    end += size;
    if (end > INT_MAX) return {};
    starts.push_back(static_cast<int>(end));
  }
  return starts;
}

// Collective. Returns on all ranks whether `prepare` succeeded on rank 0, which lacks memory if it
// throws. If rank 0 left alone, the other ranks would wait for it in the next collective.
template <class Prepare>
bool is_rank_0_ready(const UnderlyingMpi& real, Comm world, bool is_first, Prepare prepare) {
  int is_ready = 0;
  try {
    if (is_first && prepare()) is_ready = 1;
  } catch (const std::bad_alloc&) {
    is_ready = 0;
  }
  return real.bcast(&is_ready, sizeof(is_ready), real.byte, 0, world) == success && is_ready != 0;
}

}  // namespace

std::vector<RankReport> gathered_reports(const UnderlyingMpi& real, Comm world, RankReport mine) {
  int rank = 0;
  int ranks = 0;
  if (real.comm_rank(world, &rank) != success || real.comm_size(world, &ranks) != success) {
    return {};
  }
  const bool is_first = rank == 0;
  const std::string own = sent(mine, ranks);
  const int own_bytes = static_cast<int>(std::min<std::size_t>(own.size(), INT_MAX));
  std::vector<int> sizes;
  const auto prepare_sizes = [&] {
    sizes.resize(static_cast<std::size_t>(ranks));
    return true;
  };
  if (!is_rank_0_ready(real, world, is_first, prepare_sizes)) return {};
  constexpr int size_bytes = sizeof(own_bytes);
  if (real.gather(&own_bytes, size_bytes, real.byte, sizes.data(), size_bytes, real.byte, 0,
                  world) != success) {
    return {};
  }
  std::vector<int> starts;
  std::string all;
  const auto prepare_reports = [&] {
    starts = starts_of(sizes);
    if (!starts.empty()) all.resize(static_cast<std::size_t>(starts.back()));
    return !starts.empty();
  };
  if (!is_rank_0_ready(real, world, is_first, prepare_reports)) return {};
  if (real.gatherv(own.data(), own_bytes, real.byte, all.data(), sizes.data(), starts.data(),
                   real.byte, 0, world) != success ||
      !is_first) {
    return {};
  }
  std::vector<RankReport> by_rank;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    auto report = rank_report_from(std::string_view(all).substr(
        static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(sizes[i])));
    if (!report) return {};
    by_rank.push_back(std::move(*report));
  }
  return by_rank;
}

}  // namespace huddle::mpi
