// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The methods of placement by their names.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/mapping.h"

namespace huddle::mapping {

// Placements that do not look at who talks to whom: what launchers and runtimes do by themselves.

// Those who are fixed sit where they are fixed; the others take what is left, in their order.
Mapping in_order(const Problem& problem);  // slots by node and processor number
// Each on the node of that number, there by its own number on the processors by theirs; whoever is
// fixed sits where he has to. Nothing where a node has too few.
std::optional<Mapping> on_nodes(const Problem& problem, std::span<const int> node_of);
Mapping compact(const Problem& problem);    // slots as the tree has them: neighbours side by side
Mapping scatter(const Problem& problem);    // each next slot as far out as there is one
Mapping at_random(const Problem& problem);  // from the problem's seed

// How many elements each object gets, where there are fewer of them than slots.
enum class Spread {
  fill,    // the first objects to the brim, the others stay empty
  evenly,  // every object as many as any other, one more in the first ones
};

// By object of the tree. Whoever is fixed is counted where it is; no object gets more than it has
// slots.
std::vector<int> occupancy(const Problem& problem, Spread spread);

// LHMapping (Lu 2020; before that EagerMap: Cruz, Diener, Pilla, Navaux, PDP 2015): groups are
// formed greedily from the innermost objects to the root.

// With fewer elements than slots filling and spreading are both tried, and the cheaper is taken.
Mapping lh(const Problem& problem);

// One of the two. The published method spreads.
Mapping lh(const Problem& problem, Spread spread);

// From the root of the tree down: the elements of an object are cut in two for two halves of its
// children, again and again, until each has a slot.
struct PartitionEffort {
  int tries = 1;  // runs of each bisection, of which the best is kept; one more of the first ones
  std::uint64_t seed = 1;
};

Mapping partition(const Problem& problem, const PartitionEffort& effort);

// Makes a placement better step by step: one element moves to a free slot, or two change places.

// Never worse than what it was given. Ends when no move beside somebody whom an element talks to
// helps any more, or after a bounded number of looks.
Mapping refine(const Problem& problem, Mapping mapping);

// Of all placements that cost the same because objects are alike, one that moves few.

// Groups go to where most of their elements sit now. Costs are the same as before.
Mapping staying(const Problem& problem, Mapping mapping);

// Whoever sits on slots that share nothing nearer sits there in the order of numbers, which costs
// the same: launchers that give every node one list of processors can say it then, more often.
Mapping in_order_within(const Problem& problem, Mapping mapping);

// The best of all placements. Those that differ only by objects that are alike count once.

// Beyond that many placements it takes too long.
inline constexpr long long most_placements = 10'000'000;
// So many elements have more than that on any machine with a level of sharing.
inline constexpr int most_exact_elements = 64;

// How many different placements there are; nothing where there are more than `most`.
std::optional<long long> count_placements(const Problem& problem, long long most);

// `best` is a placement to begin with: whatever cannot be better than the best so far is left out.
// pre: count_placements() says that there are few enough.
Mapping exact(const Problem& problem, Mapping best);

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

}  // namespace huddle::mapping
