// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The algorithms of each collective, by the names that `huddle explain` prints. They are described
// far above this room; a test holds that the lists are the same.
#pragma once

#include <span>
#include <string_view>

namespace huddle::settings {

struct AlgorithmWords {
  std::string_view operation;
  std::span<const std::string_view> algorithms;
  // Whether a size tells such calls apart: a barrier has none, and of what only pairs of ranks know
  // no size is common to all.
  bool has_size = true;
};

// In a node.
std::span<const AlgorithmWords> algorithm_words();
// Between nodes: those that keep to one association.
std::span<const AlgorithmWords> schedule_words();

}  // namespace huddle::settings
