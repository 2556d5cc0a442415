// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the cache of a communicator's latest call: it must not return stale results.
#include "mpi/back_end/datatypes.h"

#include <gtest/gtest.h>

#include "stand_in.h"

namespace huddle::mpi {
namespace {

Datatype named(std::size_t number) { return handle<Datatype>(datatypes[number], stand_in::find); }
Op op_of(std::size_t number) { return handle<Op>(operators[number], stand_in::find); }

TEST(LatestFacts, ReturnOnlyTheLatestDatatype) {
  const UnderlyingMpi real(stand_in::find);
  const Types types(real, stand_in::find);
  LatestFacts latest;
  EXPECT_EQ(latest.of(Datatype{}, types), nullptr);
  const TypeFacts& facts = types.facts(named(1));
  latest.note(named(1), facts, types.freed());
  EXPECT_EQ(latest.of(named(1), types), &facts);
  EXPECT_EQ(latest.of(named(2), types), nullptr);
}

TEST(LatestFacts, AreInvalidatedWhenADatatypeIsFreed) {
  const UnderlyingMpi real(stand_in::find);
  const Types types(real, stand_in::find);
  LatestFacts latest;
  const Datatype type = stand_in::new_type();
  latest.note(type, types.facts(type), types.freed());
  EXPECT_NE(latest.of(type, types), nullptr);
  stand_in::free_type(type);
  const Datatype again = stand_in::new_type();
  ASSERT_EQ(again, type) << "this is not about handles that are used again";
  EXPECT_EQ(latest.of(again, types), nullptr);
  stand_in::free_type(again);
}

TEST(LatestFacts, ReturnOnlyTheLatestReduction) {
  LatestFacts latest;
  const memory::Reduction sum = memory::reduction(memory::Type::float64, memory::Operator::sum);
  EXPECT_EQ(latest.reduction(Datatype{}, Op{}), nullptr);
  latest.note(named(1), op_of(1), sum);
  ASSERT_NE(latest.reduction(named(1), op_of(1)), nullptr);
  EXPECT_EQ(latest.reduction(named(1), op_of(1))->combine, sum.combine);
  EXPECT_EQ(latest.reduction(named(1), op_of(2)), nullptr);
  EXPECT_EQ(latest.reduction(named(2), op_of(1)), nullptr);
}

}  // namespace
}  // namespace huddle::mpi
