// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/text.h"
#include "tools/cli/doctor/doctor_report.h"

namespace huddle::cli {
namespace {

using doctor::Finding;
using doctor::State;
using ::testing::HasSubstr;

std::vector<Finding> three() {
  return {{.id = "cma",
           .group = "Between processes",
           .what = "Reading memory",
           .found = "process_vm_readv works"},
          {.id = "thp",
           .group = "Huge pages",
           .what = "Shared",
           .state = State::limited,
           .found = "shmem_enabled is 'never'",
           .cost = "Random access is slower.",
           .remedy = "As root:",
           .command = "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"},
          {.id = "memfd",
           .group = "Huge pages",
           .what = "memfd",
           .state = State::fails,
           .found = "no",
           .cost = "Nothing works.",
           .remedy = "Use Linux."}};
}

Console console_of(int columns, bool unicode = false, bool color = false) {
  Console console;
  console.columns = columns;
  console.unicode = unicode;
  console.color = color;
  return console;
}

TEST(DoctorText, HasOneLinePerCheckAndDetailsForProblems) {
  EXPECT_EQ(doctor_text(three(), console_of(80)),
            "Between processes\n"
            "  ok Reading memory  process_vm_readv works\n\n"
            "Huge pages\n"
            "  !  Shared          shmem_enabled is 'never'\n"
            "       Effect: Random access is slower.\n"
            "       Remedy: As root:\n"
            "               echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled\n"
            "  X  memfd           no\n"
            "       Effect: Nothing works.\n"
            "       Remedy: Use Linux.\n\n"
            "3 checks: 1 passed, 1 limited, 1 failed. huddle cannot work here until the\n"
            "failed checks are fixed.\n");
}

TEST(DoctorText, PutsTextBelowItsTitleInNarrowTerminals) {
  EXPECT_THAT(doctor_text(three(), console_of(40)),
              HasSubstr("  ok Reading memory\n       process_vm_readv works\n"));
}

TEST(DoctorText, FitsEveryWidthExceptForCommands) {
  for (int columns = 30; columns <= 120; ++columns) {
    std::istringstream text(doctor_text(three(), console_of(columns, true)));
    for (std::string line; std::getline(text, line);) {
      if (line.find("echo advise") != std::string::npos) continue;
      EXPECT_LE(static_cast<int>(display_width(line)), columns) << line;
    }
  }
}

TEST(DoctorText, ReplacesControlCharacters) {
  std::vector<Finding> findings = three();
  for (Finding& finding : findings) {
    finding.found = finding.cost = finding.remedy = finding.command = "a\x1b[31mb";
  }
  EXPECT_THAT(doctor_text(findings, console_of(80)), ::testing::Not(HasSubstr("\x1b")));
}

TEST(DoctorText, ColorsTakeNoSpace) {
  const std::string plain = doctor_text(three(), console_of(60, true));
  std::string stripped = doctor_text(three(), console_of(60, true, true));
  EXPECT_THAT(stripped, HasSubstr("\033[32m✓\033[0m"));
  for (std::size_t at = 0; (at = stripped.find("\033[")) != std::string::npos;) {
    stripped.erase(at, stripped.find('m', at) - at + 1);
  }
  EXPECT_EQ(stripped, plain);
}

TEST(DoctorText, EndsWithASummary) {
  std::vector<Finding> findings = three();
  findings.pop_back();
  EXPECT_THAT(doctor_text(findings, console_of(80)), HasSubstr("huddle works here; the remedies"));
  findings.pop_back();
  EXPECT_THAT(doctor_text(findings, console_of(80)),
              HasSubstr("huddle works here without limitations"));
}

TEST(DoctorJson, HasEveryCheck) {
  const auto root = nlohmann::json::parse(doctor_json(three()));
  EXPECT_EQ(root["schema"], 1);
  EXPECT_EQ(root["command"], "doctor");
  EXPECT_EQ(root["counts"]["works"], 1);
  EXPECT_EQ(root["counts"]["limited"], 1);
  EXPECT_EQ(root["counts"]["fails"], 1);
  ASSERT_EQ(root["checks"].size(), 3U);
  EXPECT_EQ(root["checks"][1]["id"], "thp");
  EXPECT_EQ(root["checks"][1]["state"], "limited");
  EXPECT_EQ(root["checks"][1]["remedy"], "As root:");
  EXPECT_THAT(root["checks"][1]["command"].get<std::string>(), HasSubstr("echo advise"));
}

TEST(DoctorJson, SurvivesPathsThatAreNotUtf8) {
  std::vector<Finding> findings = three();
  findings[0].found = "/opt/\xff/mpirun";
  EXPECT_TRUE(nlohmann::json::accept(doctor_json(findings)));
}

}  // namespace
}  // namespace huddle::cli
