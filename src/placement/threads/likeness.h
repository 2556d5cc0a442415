// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How much a matrix that was seen is like the one that is known.
#pragma once

#include <optional>
#include <vector>

#include "placement/threads/pattern.h"
#include "placement/threads/sharing_matrix.h"

namespace huddle::threads {

// By pair of threads, the same pairs in the same order for both.
std::vector<double> known_pairs(Pattern pattern, bool is_second_half);
std::vector<double> seen_pairs(const SharingMatrix& matrix, const std::vector<int>& threads);

// Cosine of the angle between the two; nothing where one of them is zero.
std::optional<double> cosine(const std::vector<double>& a, const std::vector<double>& b);
// Spearman's; nothing where all of one are equal.
std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace huddle::threads
