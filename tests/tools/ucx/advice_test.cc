// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/advice.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "model/machine/machine_file.h"
#include "samples.h"
#include "tools/ucx/score.h"

namespace huddle::ucx {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

machine::Machine machine_named(const std::string& name) {
  return machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/" + name + ".toml");
}

Library library(const std::string& version) {
  return {read_version(sample(version + "-v")), read_settings(sample(version + "-ca")),
          read_devices(sample(version + "-d"))};
}

const Setting* find(const Advice& advice, std::string_view name) {
  for (const Setting& one : advice.settings) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::string value(const Advice& advice, std::string_view name) {
  const Setting* const found = find(advice, name);
  return found == nullptr ? "" : found->value;
}

std::string why_not(const Advice& advice, std::string_view name) {
  for (const Omitted& one : advice.omitted) {
    if (one.name == name) return one.why;
  }
  return "";
}

double rate(const Advice& advice, std::string_view name) { return std::stod(value(advice, name)); }

class Songshan : public ::testing::Test {
 protected:
  Advice of(Version version, int ranks) const {
    return advise(model_,
                  {.ranks = ranks, .version = version, .library = nullptr, .users_own = {}});
  }

 private:
  machine::Machine machine_ = machine_named("songshan");
  machine::CostModel model_{machine_};
};

const Setting* find_untested(const Advice& advice, std::string_view name) {
  for (const Setting& one : advice.untested) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// The paper's settings follow from the machine file, as comments because they are not tested.
TEST_F(Songshan, SuggestsSettingsOfThePaper) {
  const Advice advice = of({1, 9}, 32);
  ASSERT_NE(find_untested(advice, "UCX_MAX_RNDV_RAILS"), nullptr);
  EXPECT_EQ(find_untested(advice, "UCX_MAX_RNDV_RAILS")->value, "4");
  ASSERT_NE(find_untested(advice, "UCX_IB_PCI_RELAXED_ORDERING"), nullptr);
  ASSERT_NE(find_untested(advice, "UCX_MULTI_LANE_MAX_RATIO"), nullptr);
  EXPECT_LT(std::stod(find_untested(advice, "UCX_MULTI_LANE_MAX_RATIO")->value), 10);
}

TEST_F(Songshan, LeavesRanksPerNodeToTheMpi) {
  const Advice advice = of({1, 9}, 32);
  EXPECT_EQ(find(advice, "UCX_NUM_PPN"), nullptr);
  EXPECT_THAT(why_not(advice, "UCX_NUM_PPN"), HasSubstr("for each job"));
}

// With several rails, the ratio could disable some of them between nodes.
TEST_F(Songshan, RailsAndLaneRatioAreUntestedOnly) {
  for (const int ranks : {2, 8, 32}) {
    for (const char* name :
         {"UCX_MAX_RNDV_RAILS", "UCX_IB_PCI_RELAXED_ORDERING", "UCX_MULTI_LANE_MAX_RATIO"}) {
      EXPECT_EQ(find(of({1, 9}, ranks), name), nullptr) << name << " with " << ranks << " ranks";
    }
  }
}

TEST_F(Songshan, LaneRatioMentionsEffectBetweenNodes) {
  EXPECT_THAT(find_untested(of({1, 9}, 32), "UCX_MULTI_LANE_MAX_RATIO")->reason,
              HasSubstr("between nodes"));
}

// 1.11 has a ratio of 4, which excludes the cards at 32 ranks without a setting.
TEST_F(Songshan, StartsFromDefaultRatioOfVersion) {
  EXPECT_EQ(find_untested(of({1, 10}, 32), "UCX_MULTI_LANE_MAX_RATIO")->replaces, "10");
  EXPECT_EQ(find_untested(of({1, 11}, 32), "UCX_MULTI_LANE_MAX_RATIO"), nullptr);
  EXPECT_THAT(why_not(of({1, 11}, 32), "UCX_MULTI_LANE_MAX_RATIO"),
              HasSubstr("with 4, messages inside the node do not use the card"));
}

TEST_F(Songshan, KnemRateIsScaledIfUcxDividesIt) {
  EXPECT_NEAR(rate(of({1, 13}, 32), "UCX_KNEM_BW"), 32 * rate(of({1, 14}, 32), "UCX_KNEM_BW"), 32);
  EXPECT_GT(rate(of({1, 14}, 32), "UCX_KNEM_BW"), rate(of({1, 14}, 32), "UCX_CMA_BW"));
}

TEST_F(Songshan, FasterCardIsNotExcluded) {
  EXPECT_EQ(find(of({1, 9}, 2), "UCX_MULTI_LANE_MAX_RATIO"), nullptr);
  EXPECT_THAT(why_not(of({1, 9}, 2), "UCX_MULTI_LANE_MAX_RATIO"), HasSubstr("the card is faster"));
}

class RealUcx : public ::testing::TestWithParam<const char*> {
 protected:
  Advice advice(std::vector<std::string> users_own = {}) const {
    return advise(model_, {.ranks = 2,
                           .version = library_.version,
                           .library = &library_,
                           .users_own = std::move(users_own)});
  }
  Library library_ = library(GetParam());

 private:
  machine::Machine machine_ = machine_named("amd-epyc-2c-a606becc");
  machine::CostModel model_{machine_};
};

TEST_P(RealUcx, EverySettingIsListedByUcx) {
  const Advice given = advice();
  EXPECT_GE(given.settings.size(), 3u);
  for (const Setting& one : given.settings) {
    EXPECT_EQ(library_.settings.count(one.name), 1u) << one.name;
    EXPECT_EQ(one.replaces, library_.settings.at(one.name));
    EXPECT_NE(one.figure, "");
    EXPECT_NE(one.reason, "");
  }
}

TEST_P(RealUcx, SettingsOfUserAreKept) {
  const Advice given = advice({"UCX_CMA_BW"});
  EXPECT_EQ(find(given, "UCX_CMA_BW"), nullptr);
  EXPECT_THAT(why_not(given, "UCX_CMA_BW"), HasSubstr("your value is kept"));
}

TEST_P(RealUcx, SlowCardNeedsNoRatio) {
  EXPECT_EQ(find(advice(), "UCX_MULTI_LANE_MAX_RATIO"), nullptr);
  EXPECT_THAT(why_not(advice(), "UCX_MULTI_LANE_MAX_RATIO"),
              HasSubstr("with 4, messages inside the node do not use the card"));
}

// A user's value for CMA with which loopback TCP appears to deserve a share.
TEST_P(RealUcx, CardThatUcxWouldUseIsExcluded) {
  library_.settings["UCX_CMA_BW"] = "20.00MBps";
  const double ratio = std::stod(value(advice({"UCX_CMA_BW"}), "UCX_MULTI_LANE_MAX_RATIO"));
  EXPECT_LT(ratio, 20 / (11.91 / 2));
  EXPECT_GE(ratio, 1);
}

TEST_P(RealUcx, SuggestsRailsOnlyForSeveralInfinibandCards) {
  EXPECT_EQ(find_untested(advice(), "UCX_MAX_RNDV_RAILS"), nullptr);
  for (const char* name : {"mlx5_0:1", "mlx5_1:1"}) {
    library_.devices.push_back({"rc_mlx5", name, DeviceKind::network, 23e9, 0});
    library_.devices.push_back({"dc_mlx5", name, DeviceKind::network, 23e9, 0});
  }
  ASSERT_NE(find_untested(advice(), "UCX_MAX_RNDV_RAILS"), nullptr);
  EXPECT_EQ(find_untested(advice(), "UCX_MAX_RNDV_RAILS")->value, "2");
}

TEST_P(RealUcx, LaneRatioIsUntestedWithSeveralRails) {
  library_.settings["UCX_CMA_BW"] = "20.00MBps";
  EXPECT_NE(find(advice({"UCX_CMA_BW"}), "UCX_MULTI_LANE_MAX_RATIO"), nullptr);
  library_.devices.push_back({"tcp", "eth1", DeviceKind::network, 11.27 * ucx_mb, 0});
  EXPECT_EQ(find(advice({"UCX_CMA_BW"}), "UCX_MULTI_LANE_MAX_RATIO"), nullptr);
  EXPECT_NE(find_untested(advice({"UCX_CMA_BW"}), "UCX_MULTI_LANE_MAX_RATIO"), nullptr);
}

// A rate for CMA below KNEM's constant would send all messages over KNEM.
TEST_P(RealUcx, NoRateIfAnotherTransportHasNone) {
  for (const char* rival : {"knem", "xpmem"}) {
    library_ = library(GetParam());
    library_.devices.push_back({rival, "memory", DeviceKind::intra_node, 0, 13862 * ucx_mb});
    const Advice given = advice();
    for (const char* name : {"UCX_CMA_BW", "UCX_POSIX_BW", "UCX_SYSV_BW"}) {
      EXPECT_EQ(find(given, name), nullptr) << name << " beside " << rival;
      EXPECT_THAT(why_not(given, name), HasSubstr(rival));
    }
  }
}

TEST_P(RealUcx, RateOfUserCountsAsFigure) {
  library_.devices.push_back({"knem", "memory", DeviceKind::intra_node, 0, 13862 * ucx_mb});
  library_.settings["UCX_KNEM_BW"] = "7000.00MBps";
  EXPECT_NE(find(advice({"UCX_KNEM_BW"}), "UCX_CMA_BW"), nullptr);
}

TEST_P(RealUcx, NoRateForMissingTransport) {
  std::erase_if(library_.devices, [](const Device& one) { return one.transport == "cma"; });
  EXPECT_EQ(find(advice(), "UCX_CMA_BW"), nullptr);
  EXPECT_NE(find(advice(), "UCX_POSIX_BW"), nullptr);
}

// A transport whose rate cannot be set keeps UCX's constant, like one without a figure.
TEST_P(RealUcx, NoRateIfOneCannotBeSet) {
  library_.settings.erase("UCX_SYSV_BW");
  EXPECT_EQ(find(advice(), "UCX_SYSV_BW"), nullptr);
  EXPECT_THAT(why_not(advice(), "UCX_SYSV_BW"), HasSubstr("does not have it"));
  EXPECT_EQ(find(advice(), "UCX_CMA_BW"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Versions, RealUcx, ::testing::Values("1.13", "1.22"));

Advice of_two() {
  Advice advice;
  advice.settings = {{"UCX_POSIX_BW", "4MBps", "four", "auto", "because"},
                     {"UCX_CMA_BW", "9MBps", "nine", "", "so"}};
  advice.untested = {{"UCX_MAX_RNDV_RAILS", "2", "two cards", "", "all cards"}};
  return advice;
}

std::string in(Format format, Version version = {1, 22}) {
  return written({"m", version, 4, ""}, of_two(), format);
}

TEST(Format, MatchesItsConsumer) {
  EXPECT_THAT(in(Format::env),
              HasSubstr("# because\n#   four; UCX: auto\nexport UCX_POSIX_BW=4MBps\n"));
  EXPECT_THAT(in(Format::conf), HasSubstr("\nUCX_CMA_BW=9MBps\n"));
  EXPECT_EQ(in(Format::openmpi), "-x UCX_POSIX_BW=4MBps -x UCX_CMA_BW=9MBps\n");
  EXPECT_EQ(in(Format::mpich), "-genv UCX_POSIX_BW 4MBps -genv UCX_CMA_BW 9MBps\n");
  EXPECT_THAT(in(Format::slurm), StartsWith("#!/bin/sh\n"));
  EXPECT_THAT(in(Format::slurm), HasSubstr("echo 'export UCX_CMA_BW=9MBps'\n"));
}

TEST(Format, UntestedSettingsAreComments) {
  EXPECT_THAT(in(Format::env), HasSubstr("\n# export UCX_MAX_RNDV_RAILS=2\n"));
  EXPECT_THAT(in(Format::conf), HasSubstr("\n# UCX_MAX_RNDV_RAILS=2\n"));
  EXPECT_THAT(in(Format::slurm), HasSubstr("\n# echo 'export UCX_MAX_RNDV_RAILS=2'\n"));
  for (const Format format : {Format::openmpi, Format::mpich}) {
    EXPECT_THAT(in(format), Not(HasSubstr("RAILS")));
    EXPECT_TRUE(leaves_out_untested(format));
  }
}

TEST(Format, UcxConfRequiresVersionWithSections) {
  EXPECT_THROW(in(Format::conf, {1, 16}), UsageError);
  EXPECT_THAT(in(Format::conf, {1, 17}), HasSubstr("UCX_CMA_BW"));
}

TEST(Format, ContainsReasonForDoubt) {
  EXPECT_THAT(written({"m", {1, 9}, 4, "Unverified"}, of_two(), Format::env),
              HasSubstr("# Unverified.\n"));
}

TEST(Format, UnknownFormatListsKnownOnes) {
  try {
    format_named("yaml");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("env, conf, openmpi, mpich, slurm"));
  }
}

}  // namespace
}  // namespace huddle::ucx
