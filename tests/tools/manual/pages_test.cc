// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/manual/manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace huddle::manual {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns a program with one command that has an argument of each kind.
cli::ProgramInterface small_program() {
  cli::Interface command{
      .name = "draw",
      .summary = "draw it",
      .description = "Draws it.",
      .footer = "  huddle draw\n\nExit status: 0 drawn,\n1 not.",
      .options = {{.names = {"-n", "--ranks"}, .placeholder = "N", .help = "how many", .values = 1},
                  {.names = {"--json"},
                   .placeholder = "FILE",
                   .help = "as JSON",
                   .values = 1,
                   .value_optional = true},
                  {.names = {"--heap"},
                   .placeholder = "on|off",
                   .help = "share",
                   .values = 1,
                   .is_setting = true},
                  {.names = {"--ops"},
                   .placeholder = "OP,...",
                   .help = "these",
                   .value = cli::Value::list,
                   .words = {"barrier", "bcast"},
                   .values = 1}}};
  command.rest = cli::Argument{.names = {"COMMAND"}, .placeholder = "COMMAND", .help = "what"};
  return {.program = {.name = "huddle",
                      .summary = "does it",
                      .description = "It does it.",
                      .footer = "Exit status: 0.",
                      .options = {}},
          .commands = {command}};
}

std::string page_named(const std::string& name) {
  for (const Page& page : pages(small_program(), "1.2.3")) {
    if (page.name == name) return page.text;
  }
  return "no page " + name;
}

TEST(Pages, AreOneForTheProgramEachCommandAndTheSettings) {
  std::vector<std::string> names;
  for (const Page& page : pages(small_program(), "1.2.3")) {
    names.push_back(page.name + "." + std::to_string(page.section));
  }
  EXPECT_THAT(names, ElementsAre("huddle.1", "huddle-draw.1", "huddle-settings.7"));
}

TEST(CommandPage, HasTheContentsOfHelp) {
  EXPECT_THAT(
      page_named("huddle-draw"),
      AllOf(HasSubstr(".TH HUDDLE\\-DRAW 1 \"\" \"huddle 1.2.3\""),
            HasSubstr(".SH NAME\nhuddle\\-draw \\- draw it\n"), HasSubstr("[\\fICOMMAND\\fR...]"),
            HasSubstr(".TP\n\\fB\\-n\\fR, \\fB\\-\\-ranks\\fR \\fIN\\fR\nhow many\n"),
            HasSubstr("\\fB\\-\\-json\\fR [\\fIFILE\\fR]\nas JSON\n"),
            HasSubstr("these; OP is one of barrier, bcast\n"),
            HasSubstr(".SH EXAMPLES\n.EX\n  huddle draw\n.EE\n"),
            HasSubstr(".SH EXIT STATUS\n0 drawn,\n1 not.\n"),
            HasSubstr(
                ".SH SEE "
                "ALSO\n\\fBhuddle\\fR(1),\n\\fBhuddle\\-settings\\fR(7),\n\\fBhuddle\\fR(3)\n")));
}

TEST(SettingsPage, DocumentsEverySourceOfASetting) {
  EXPECT_THAT(page_named("huddle-settings"),
              AllOf(HasSubstr("Environment: HUDDLE_HEAP.\n"
                              ".br\n"
                              "Option: \\-\\-heap of huddle draw.\n"),
                    HasSubstr("Option: \\-\\-color of every command.\n"
                              ".br\n"
                              "Default: auto.\n"),
                    HasSubstr("Environment: HUDDLE.\n"), HasSubstr("OP: barrier, bcast,"),
                    Not(HasSubstr("Option: \\-\\-ops"))))
      << "--ops of draw is an option of its own, not the setting";
}

}  // namespace
}  // namespace huddle::manual
