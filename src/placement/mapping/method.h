// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The placement methods and their names.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/mapping.h"

namespace huddle::mapping {

// Placements that ignore communication, as launchers and runtimes choose by default. Fixed elements
// stay on their slots; the others get the free slots in ascending order.
Mapping in_order(
    const MappingProblem& problem);  // slots ordered by node and OS index of the hardware thread
// Places each element on node node_of[element], on the free hardware thread with the lowest OS
// index. Fixed elements stay. Returns nothing if a node has too few slots.
std::optional<Mapping> on_nodes(const MappingProblem& problem, std::span<const int> node_of);
Mapping compact(const MappingProblem& problem);  // slots in tree order: neighbours are consecutive
Mapping scatter(const MappingProblem& problem);  // consecutive elements as far apart as possible
Mapping at_random(const MappingProblem& problem);  // uses the problem's seed

// Specifies how elements are distributed over objects if there are fewer elements than slots.
enum class Spread {
  fill,    // fills the first objects; the others stay empty
  evenly,  // same number in every object, one more in the first ones
};

// Returns the number of elements in each object of the tree. Counts fixed elements in their objects
// and respects the number of slots.
std::vector<int> occupancy(const MappingProblem& problem, Spread spread);

// LHMapping (Lu 2020; before that EagerMap: Cruz, Diener, Pilla, Navaux, PDP 2015): forms groups
// greedily from the innermost objects to the root. With fewer elements than slots, tries both
// values of Spread and returns the cheaper placement.
Mapping lh(const MappingProblem& problem);

// Uses the given distribution. The published method uses Spread::evenly.
Mapping lh(const MappingProblem& problem, Spread spread);

// Effort of partition().
struct PartitionEffort {
  // runs of each bisection, of which the best is kept; the outermost cuts get one more
  int tries = 1;
  std::uint64_t seed = 1;
};

// Recursive bisection from the root of the tree down: splits the elements of an object between two
// halves of its children until each has a slot.
Mapping partition(const MappingProblem& problem, const PartitionEffort& effort);

// Improves a placement step by step: moves an element to a free slot, or exchanges two elements.
// The result is never worse than `mapping`. Ends if no element gains by moving near a communication
// partner, or when the budget of edge visits is spent.
Mapping refine(const MappingProblem& problem, Mapping mapping);

// Returns a placement of equal cost with fewer differences from the current one. Exchanges
// identical objects so that each group goes to the object where most of its elements are now.
Mapping staying(const MappingProblem& problem, Mapping mapping);

// Sorts the elements within each innermost object by number, at equal cost. Launchers that use one
// list of hardware threads for all nodes can then express more placements.
Mapping in_order_within(const MappingProblem& problem, Mapping mapping);

// Limit for the method `exact`, which would take too long with more placements. Placements that
// differ only by an exchange of identical objects count once.
inline constexpr long long most_placements = 10'000'000;
// With more elements, any machine with a level of sharing exceeds that limit.
inline constexpr int most_exact_elements = 64;

// Returns the number of different placements, or nothing if there are more than `most`.
std::optional<long long> count_placements(const MappingProblem& problem, long long most);

// Returns the best placement. Starts from `best` and prunes placements that cannot improve on it.
// Requires: count_placements() has returned a number that is small enough.
Mapping exact(const MappingProblem& problem, Mapping best);

enum class Method { order, compact, scatter, random, lh, tree, exact };
inline constexpr std::array<std::string_view, 7> method_names = {
    "order", "compact", "scatter", "random", "lh", "tree", "exact"};

struct MethodOptions {
  Method method = Method::tree;
  bool as_printed = false;  // of lh: always spread elements evenly, as published
};

// Throws UsageError that suggests the most similar name.
Method method_named(std::string_view name);

struct MappingResult {
  Mapping mapping;
  std::string how;  // description of how it was found
};

// Throws UsageError if there are too many placements for `exact`.
MappingResult map_by(const MappingProblem& problem, const MethodOptions& options);

// The default method: the best of the current placement, lh and multilevel bisection, each refined
// by moves and swaps. Tries all placements if there are few.
MappingResult tree_mapping(const MappingProblem& problem);

}  // namespace huddle::mapping
