// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/bootstrap.h"

#include <fmt/format.h>
#include <algorithm>

#include "common/error.h"

namespace huddle::team {

RankError::RankError(std::string_view text) {
  const std::string_view some = text.empty() ? "an error without a message" : text;
  std::copy_n(some.begin(), std::min(some.size(), text_.size() - 1), text_.begin());
}

// Does not rely on a terminating zero, because the bytes may come from another process.
std::string_view RankError::text() const {
  return {text_.begin(), std::find(text_.begin(), text_.end(), '\0')};
}

RankError RankError::of_rank(std::size_t rank, const RankError& rank_error) {
  RankError told;
  fmt::format_to_n(told.text_.data(), told.text_.size() - 1, "rank {}: {}", rank,
                   rank_error.text());
  return told;
}

void throw_of(std::size_t rank, const RankError& rank_error) {
  throw FailureError(RankError::of_rank(rank, rank_error).text());
}

void throw_first(std::span<const RankError> by_rank) {
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    if (by_rank[rank].is_any()) throw_of(rank, by_rank[rank]);
  }
}

}  // namespace huddle::team
