// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/collector.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "../../common/scratch.h"
#include "common/file.h"

namespace huddle::profile {
namespace {

// The loopback interface exists wherever tests run.
std::string by_loopback(const Collector& collector, const std::string& token) {
  return fmt::format("{}@127.0.0.1:{}", token, collector.port());
}
std::string token_of(const Collector& collector) {
  return collector.address().substr(0, collector.address().find('@'));
}

TEST(Collector, WritesDeliveredParts) {
  const test::Scratch scratch;
  const Collector collector(scratch.path("."));
  const std::string large(3'000'000, 'x');
  EXPECT_TRUE(deliver(by_loopback(collector, token_of(collector)), "first"));
  EXPECT_TRUE(deliver(by_loopback(collector, token_of(collector)), large));
  EXPECT_EQ(read_text(scratch.path("sent-0")), "first");
  EXPECT_EQ(read_text(scratch.path("sent-1")), large);
}

TEST(Collector, RejectsWrongToken) {
  const test::Scratch scratch;
  const Collector collector(scratch.path("."));
  std::string wrong = token_of(collector);
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  EXPECT_FALSE(deliver(by_loopback(collector, wrong), "part"));
  EXPECT_TRUE(deliver(by_loopback(collector, token_of(collector)), "part"));
  EXPECT_EQ(read_text(scratch.path("sent-0")), "part");
}

TEST(Deliver, TriesEveryAddress) {
  const test::Scratch scratch;
  const Collector collector(scratch.path("."));
  EXPECT_TRUE(deliver(fmt::format("{}@not an address,127.0.0.1:1,127.0.0.1:{}", token_of(collector),
                                  collector.port()),
                      "part"));
  EXPECT_FALSE(deliver("", "part"));
  EXPECT_FALSE(deliver("token@", "part"));
  EXPECT_FALSE(deliver("token@127.0.0.1:1", "part"));
}

}  // namespace
}  // namespace huddle::profile
