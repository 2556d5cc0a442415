// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/operation.h"

#include <gtest/gtest.h>

namespace huddle::select {
namespace {

// The data of all ranks add up to the total.
TEST(Operation, OwnDataAddUpToAllData) {
  for (const Operation operation : operations) {
    for (const int ranks : {2, 4, 8}) {
      const Request request{.operation = operation, .bytes = 4096};
      double sum = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const OwnData own = own_data(request, rank == 0, ranks);
        sum += own.in_bytes + own.out_bytes;
      }
      EXPECT_EQ(sum, static_cast<double>(data_bytes(request, ranks)))
          << name(operation) << " of " << ranks;
    }
  }
}

// An operation differs from its regular form only in the sizes of its blocks.
TEST(Operation, EqualsItsRegularFormExceptForSizes) {
  for (const Operation operation : operations) {
    const Operation regular = regular_form(operation);
    EXPECT_EQ(regular_form(regular), regular) << name(operation);
    EXPECT_FALSE(has_pairwise_sizes(regular)) << name(operation);
    EXPECT_EQ(traits_of(operation).in, traits_of(regular).in) << name(operation);
    EXPECT_EQ(traits_of(operation).out, traits_of(regular).out) << name(operation);
    EXPECT_EQ(reduces(operation), reduces(regular)) << name(operation);
  }
}

TEST(Operation, IsFoundByItsName) {
  for (const Operation operation : operations) {
    EXPECT_EQ(operation_named(name(operation)), operation);
  }
  EXPECT_EQ(operation_named("MPI_Allreduce"), Operation::allreduce);
  EXPECT_EQ(operation_named("nothing"), std::nullopt);
}

// Inputs and outputs as defined by MPI: rank 1 of 3, with root 0 and root 1.
TEST(Exchange, ContainsBlocksOfItsRank) {
  constexpr std::size_t bytes = 8;
  const auto total = [](const node::Blocks& blocks) { return blocks.total(3); };
  const Call all = exchange_of(Operation::allgatherv, bytes, 1, 0);
  EXPECT_EQ(total(all.outgoing), bytes);
  EXPECT_EQ(all.outgoing.of(1).bytes, bytes);
  EXPECT_EQ(total(all.incoming), 3 * bytes);
  const Call each = exchange_of(Operation::alltoallw, bytes, 1, 0);
  EXPECT_EQ(total(each.outgoing), 3 * bytes);
  EXPECT_EQ(total(each.incoming), 3 * bytes);
  const Call given = exchange_of(Operation::gather, bytes, 1, 0);
  EXPECT_EQ(given.outgoing.of(0).bytes, bytes);
  EXPECT_EQ(total(given.incoming), 0U);
  EXPECT_EQ(total(exchange_of(Operation::gather, bytes, 1, 1).incoming), 3 * bytes);
  const Call gotten = exchange_of(Operation::scatterv, bytes, 1, 0);
  EXPECT_EQ(total(gotten.outgoing), 0U);
  EXPECT_EQ(gotten.incoming.of(0).bytes, bytes);
  EXPECT_EQ(total(exchange_of(Operation::scatter, bytes, 1, 1).outgoing), 3 * bytes);
}

}  // namespace
}  // namespace huddle::select
