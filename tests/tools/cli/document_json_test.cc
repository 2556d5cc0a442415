// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The common form of all --json output: an object on one line that begins with its schema.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/document_json.h"

namespace huddle::cli {
namespace {

void expect_alike(const std::string& text, const std::string& command) {
  EXPECT_THAT(text, testing::MatchesRegex("\\{\"schema\":1,\"command\":\"" + command + "\",.*\n"))
      << command;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << command;
  EXPECT_TRUE(nlohmann::json::accept(text)) << command;
}

TEST(Json, OfEveryCommandBeginsAlike) {
  using Words = std::vector<std::string>;
  const std::vector<Words> calls = {{"topo"},
                                    {"topo", "--list-machines"},
                                    {"topo", "--synthetic", "core:4 pu:1"},
                                    {"explain", "bcast", "64K", "--machine", "songshan"},
                                    {"calibrate", "--dry-run"},
                                    {"doctor"},
                                    {"paths", "--machine", "songshan"},
                                    {"ucx", "--machine", "songshan", "--ucx-version", "1.9"},
                                    {"config"},
                                    {"config", "machine"},
                                    {"run", "--dry-run", "true"}};
  for (Words words : calls) {
    words.insert(words.begin() + 1, "--json");
    expect_alike(Program().run(words).out, words.front());
  }
}

TEST(Json, OfEveryBenchmarkBeginsAlike) {
  MpiBenchReport report;
  report.measured.mpis.emplace_back();
  report.measured.versions.emplace_back();
  expect_alike(bench_mpi_json(report), "bench");
  expect_alike(bench_json({}), "bench");
  expect_alike(bench_table_json({}), "bench");
}

TEST(Json, IsUtf8WhateverItContains) {
  nlohmann::ordered_json document = json_document(1, "topo");
  document["path"] = "/home/\xff";
  expect_alike(json_text(document), "topo");
}

}  // namespace
}  // namespace huddle::cli
