// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Threads query the properties of datatypes at the same time: none may see incomplete properties,
// because a rank that sees a type differently from its peers falls back to the MPI alone.
#include "mpi/back_end/datatypes.h"

#include <gtest/gtest.h>

#include "stand_in.h"
#include "threads.h"

namespace huddle::mpi {
namespace {

// The number of repetitions of concurrent first uses.
constexpr int first_uses = 50;

void expect_all_of(const TypeFacts& facts, const Predefined& predefined) {
  EXPECT_TRUE(facts.is_type && facts.dense) << predefined.name;
  EXPECT_EQ(facts.bytes, stand_in::named_bytes) << predefined.name;
  const Element* element = find_element(predefined.name);
  EXPECT_EQ(facts.element, element) << predefined.name;
  EXPECT_EQ(facts.number, element_type(*element, facts.bytes)) << predefined.name;
}

TEST(TypesOfThreads, SeeCompletePropertiesOfPredefinedTypes) {
  const UnderlyingMpi real(stand_in::find);
  for (int round = 0; round < first_uses; ++round) {
    const Types types(real, stand_in::find);
    at_once([&](int) {
      for (const Predefined& predefined : datatypes) {
        const auto type = handle<Datatype>(predefined, stand_in::find);
        // The first thread may still be querying when others arrive.
        expect_all_of(types.facts(type), predefined);
        expect_all_of(types.facts(type), predefined);
      }
    });
  }
}

TEST(TypesOfThreads, SeeCompletePropertiesOfDerivedTypesOnce) {
  const UnderlyingMpi real(stand_in::find);
  for (int round = 0; round < first_uses; ++round) {
    const Types types(real, stand_in::find);
    const Datatype type = stand_in::new_type();
    std::array<const TypeFacts*, threads_at_once> seen{};
    at_once([&](int thread) {
      const TypeFacts& facts = types.facts(type);
      EXPECT_TRUE(facts.is_type && facts.dense);
      seen[static_cast<std::size_t>(thread)] = &facts;
    });
    for (const TypeFacts* facts : seen) EXPECT_EQ(facts, seen.front());
    stand_in::free_type(type);
  }
}

}  // namespace
}  // namespace huddle::mpi
