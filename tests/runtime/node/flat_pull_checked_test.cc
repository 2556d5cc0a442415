// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks XHC's flat broadcast, with changing roots and buffers that their callers overwrite
// as soon as a call returns.
#include "direct_checked.h"
#include "runtime/node/flat_pull_bcast.h"

namespace huddle::node::test {
namespace {

using Call = DirectCall<FlatPullBcast>;

Bytes message(int root, std::size_t bytes) {
  Bytes all;
  for (std::size_t i = 0; i < bytes; ++i) {
    all.push_back(static_cast<std::byte>(1 + 60 * root + static_cast<int>(7 * i)));
  }
  return all;
}

Call bcast(std::size_t bytes, int root) {
  return {[=](int rank) { return rank == root ? message(root, bytes) : Bytes{}; },
          [=](int rank) { return rank == root ? Bytes{} : message(root, bytes); },
          [=](FlatPullBcast& protocol, CheckedContext& ctx) { protocol.run(ctx, bytes, root); }};
}

// Messages of at most 4 bytes are stored next to the counter; chunks have 8 bytes.
Job job(int ranks, const std::vector<Call>& calls) {
  const auto make = [](int) { return FlatPullBcast({4, 8}, just_below_wrap); };
  return with_reachable(direct_job<FlatPullBcast>(ranks, make, calls), [](int) { return true; });
}

TEST(FlatPullChecked, InEveryOrder) {
  EXPECT_TRUE(passes(job(2, {bcast(3, 0), bcast(12, 0), bcast(4, 1)})));
  EXPECT_TRUE(passes(job(3, {bcast(12, 0), bcast(3, 2)})));
  EXPECT_TRUE(passes(job(3, {bcast(3, 1), bcast(3, 1), bcast(9, 0)})));
}

}  // namespace
}  // namespace huddle::node::test
