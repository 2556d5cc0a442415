// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

Ran reproduce(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "reproduce");
  return Program().run(arguments);
}

TEST(Reproduce, ShowsEachFigureBesideHuddles) {
  const Ran ran = reproduce({"kurnosov", "--seed", "3"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("kurnosov: M. Kurnosov"), HasSubstr("33882 us"),
                    HasSubstr("14482 bytes"), HasSubstr("Not compared:"), HasSubstr("seed 3")));
}

TEST(Reproduce, PrintsReproducibleJson) {
  const Ran ran = reproduce({"liu", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, reproduce({"liu", "--json"}).out);
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["command"], "reproduce");
  EXPECT_EQ(document["seed"], 1);
  ASSERT_EQ(document["papers"].size(), 1U);
  int compared = 0;
  for (const json& figure : document["papers"][0]["figures"]) {
    const bool is_compared = !figure["ours"].is_null();
    EXPECT_EQ(is_compared, figure["verdict"] != "not compared") << figure;
    EXPECT_EQ(!figure["band"].is_null(), is_compared && figure["on"] != "") << figure;
    compared += is_compared ? 1 : 0;
  }
  EXPECT_EQ(document["summary"]["exact"]["rows"], 3);
  EXPECT_GT(compared, 3);
}

// Only the machines that huddle installs are used, even if the user has one of the same name.
TEST(Reproduce, IgnoresMachinesOfTheUser) {
  Program program;
  program.home_file(".config/huddle/machines/songshan.toml",
                    "schema = 1\nname = \"not a machine\"\n");
  const Ran ran = program.run({"reproduce", "liu", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, reproduce({"liu", "--json"}).out);
}

TEST(Reproduce, RefusesToMeasureWithoutMeasuredFigures) {
  const Ran ran = reproduce({"zhang", "--measure"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "huddle: --measure is not possible for 'zhang', only for kurnosov\n");
}

TEST(Reproduce, RefusesAnUnknownPaper) {
  const Ran ran = reproduce({"zang"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "huddle: unknown paper 'zang'; did you mean 'zhang'?\n");
  EXPECT_THAT(reproduce({"knuth"}).err, HasSubstr("use one of zhang, liu, kurnosov, chen, lu"));
}

}  // namespace
}  // namespace huddle::cli
