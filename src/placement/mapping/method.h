// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The methods of placement by their names.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "placement/mapping/mapping.h"

namespace huddle::place {

enum class Method { order, compact, scatter, random, lh, tree, exact };
inline constexpr std::array<std::string_view, 7> method_names = {
    "order", "compact", "scatter", "random", "lh", "tree", "exact"};

struct MethodOptions {
  Method method = Method::tree;
  bool as_printed = false;  // of lh: elements are spread whenever there are fewer than slots
};

// Throws UsageError that names the nearest.
Method method_named(std::string_view name);

struct Mapped {
  Mapping mapping;
  std::string how;  // it came about, in words
};

// Throws UsageError where `exact` has too many placements to look at.
Mapped map_by(const Problem& problem, const MethodOptions& options);

// The default: the best of where everybody sits now, of lh and of multilevel bisection, made better
// by moves and swaps; of a few elements the best there is.
Mapped tree_mapping(const Problem& problem);

}  // namespace huddle::place
