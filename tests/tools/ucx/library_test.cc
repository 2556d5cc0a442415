// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Parses the output of two real versions (samples/), and rejects it if it is truncated or damaged.
#include "tools/ucx/library.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "common/error.h"
#include "samples.h"
#include "tools/ucx/score.h"

namespace huddle::ucx {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LaneRules with_slow_cma(double ratio) {
  return {{{"cma", "memory", DeviceKind::intra_node, 0, 20 * ucx_mb},
           {"tcp", "lo", DeviceKind::network, 12 * ucx_mb, 0}},
          2,
          ratio};
}

std::vector<Selection> selections_of(std::string_view text) {
  return read_selections(text, with_slow_cma(4));
}

TEST(Library, VersionIsParsed) {
  EXPECT_EQ(read_version(sample("1.13-v")), (Version{1, 13}));
  EXPECT_EQ(read_version(sample("1.22-v")), (Version{1, 22}));
}

TEST(Library, SettingsHaveDefaults) {
  const Settings old = read_settings(sample("1.13-ca"));
  EXPECT_EQ(old.at("UCX_CMA_BW"), "11145.00MBps");
  EXPECT_EQ(old.at("UCX_IB_PCI_BW"), "");
  EXPECT_EQ(old.count("UCX_CMA_MAX_SHORT"), 0u) << "it is deprecated";
  EXPECT_EQ(read_settings(sample("1.22-ca")).at("UCX_POSIX_BW"), "15360.00MBps");
}

TEST(Library, DevicesHaveKindsAndRates) {
  for (const char* version : {"1.13-d", "1.22-d"}) {
    const auto devices = read_devices(sample(version));
    EXPECT_THAT(devices,
                Contains(Device{"cma", "memory", DeviceKind::intra_node, 0, 11145 * ucx_mb}));
    EXPECT_THAT(devices, Contains(Device{"tcp", "lo", DeviceKind::network, 11.91 * ucx_mb, 0}));
    EXPECT_TRUE(is_network(devices, {"tcp", "lo", 1}));
    EXPECT_FALSE(is_network(devices, {"cma", "memory", 1}));
  }
}

TEST(Library, EstimatedProtocolsAreParsed) {
  const auto old = read_selections(sample("1.13-e"), {});
  ASSERT_THAT(old, SizeIs(1));
  ASSERT_THAT(old[0].ranges, SizeIs(3));
  EXPECT_EQ(old[0].ranges[2].from_bytes, 6238);
  EXPECT_THAT(old[0].ranges[2].lanes, ElementsAre(Lane{"cma", "memory", 1}));
}

TEST(Library, ShareOfCardIsParsed) {
  const auto selections = read_selections(sample("1.22-e-card"), {});
  ASSERT_THAT(selections, SizeIs(3));
  const Range& large = selections[0].ranges.back();
  EXPECT_EQ(large.from_bytes, 256 * 1024);
  EXPECT_THAT(large.lanes, ElementsAre(Lane{"cma", "memory", 0.63}, Lane{"tcp", "lo", 0.37}));
}

// 1.13 uses thresholds by default.
TEST(Library, ThresholdProtocolsAreParsed) {
  const auto selections = read_selections(sample("1.13-e-thresholds"), {});
  ASSERT_THAT(selections, SizeIs(3));
  EXPECT_EQ(selections[0].call, "ucp_tag_send");
  EXPECT_EQ(selections[1].call, "ucp_tag_send_nbr");
  EXPECT_THAT(selections[0].ranges, ElementsAre(Range{0, "egr/short", {{"sysv", "memory", 1}}},
                                                Range{93, "egr/bcopy", {{"sysv", "memory", 1}}},
                                                Range{8256, "rndv", {{"cma", "memory", 1}}}));
  EXPECT_EQ(selections[1].ranges[2].from_bytes, 262144);
}

// 20 and 12 / 2 MB/s: UCX prints the lanes without their shares.
TEST(Library, SharesFollowRatesIfUcxPrintsNone) {
  const auto selections = read_selections(sample("1.13-e-thresholds-card"), with_slow_cma(4));
  const std::vector<Lane>& lanes = selections[0].ranges.back().lanes;
  ASSERT_THAT(lanes, SizeIs(2));
  EXPECT_EQ(lanes[1].device, "lo");
  EXPECT_NEAR(lanes[1].share, 6.0 / 26, 1e-9);
}

TEST(Library, LanesBeyondRatioAreDropped) {
  const auto selections = read_selections(sample("1.13-e-thresholds-card"), with_slow_cma(3));
  EXPECT_THAT(selections[0].ranges.back().lanes, ElementsAre(Lane{"cma", "memory", 1}));
}

TEST(Library, LaneRatioIsReadFromSettings) {
  EXPECT_EQ(lane_ratio({{1, 22}, {{"UCX_MULTI_LANE_MAX_RATIO", "2.500"}}, {}}), 2.5);
  EXPECT_EQ(lane_ratio({{1, 9}, {}, {}}), 10);
}

TEST(Library, WarningsAndErrorsAreFound) {
  EXPECT_THAT(complaints(sample("1.13-e")), IsEmpty());
  EXPECT_THAT(complaints("[1.2] [vm:1:0] parser.c:1059 UCX  ERROR Invalid value for BW: 'abc'\n"
                         "[1.2] [vm:1:0] parser.c:1908 UCX  WARN  unused env variable: UCX_X\n"),
              ElementsAre(HasSubstr("Invalid value"), HasSubstr("UCX_X")));
}

TEST(Library, UnknownLineIsReported) {
  const auto refusal = [](auto read, const std::string& text) -> std::string {
    try {
      read(text);
    } catch (const FailureError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(read_version, "UCX of tomorrow\n"), HasSubstr("'UCX of tomorrow'"));
  EXPECT_THAT(refusal(read_settings, ""), HasSubstr("does not understand"));
  EXPECT_THAT(refusal(read_devices, "# Transport: rc\n# Device: mlx5_0:1\n# Type: quantum\n"),
              HasSubstr("quantum"));
  EXPECT_THAT(refusal(read_devices, "# Transport: rc\n# Device: a\n# bandwidth: fast\n"),
              HasSubstr("fast"));
  EXPECT_THAT(
      refusal(selections_of, "# | tagged message by x |\n# | 0..inf | eager | by pigeon |\n"),
      HasSubstr("by pigeon"));
}

// Any output is either parsed or rejected.
template <class Read>
void read_or_refuse(Read read, const std::string& text) {
  try {
    read(text);
  } catch (const FailureError&) {
  }
}

RC_GTEST_PROP(Library, DamagedOutputIsParsedOrRejected, ()) {
  const auto name = *rc::gen::element<std::string>("1.13-v", "1.22-v", "1.13-ca", "1.22-ca",
                                                   "1.13-d", "1.22-d", "1.13-e", "1.22-e-card",
                                                   "1.13-e-thresholds", "1.13-e-thresholds-card");
  std::string text = sample(name);
  text.resize(*rc::gen::inRange<std::size_t>(0, text.size()));
  const int changes = text.empty() ? 0 : *rc::gen::inRange(0, 8);
  for (int i = 0; i < changes; ++i) {
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  }
  read_or_refuse(read_version, text);
  read_or_refuse(read_settings, text);
  read_or_refuse(read_devices, text);
  read_or_refuse(selections_of, text);
  complaints(text);
}

}  // namespace
}  // namespace huddle::ucx
