// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The behaviour of the whole program for users and scripts.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <iterator>
#include <sstream>

#include "common/text.h"
#include "tools/cli/command.h"
#include "tools/cli/interface.h"

namespace huddle::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns the words separately, however help has broken its lines.
std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string joined(const std::string& text) {
  std::string result;
  for (const std::string& word : words_of(text)) result += word + " ";
  return result;
}

// Expects a usage error: nothing on stdout, this message on stderr, status 2.
void expect_usage(const std::vector<std::string>& arguments, const std::string& message) {
  const Ran ran = Program().run(arguments);
  EXPECT_EQ(ran.status, 2) << message;
  EXPECT_EQ(ran.out, "");
  ASSERT_FALSE(ran.err.empty());
  EXPECT_EQ(lines_of(ran.err)[0], "huddle: " + message);
}

TEST(Commands, AreFoundByTheirNames) {
  for (const NamedCommand& command : named_commands()) {
    EXPECT_EQ(command.make()->name(), command.name);
  }
}

TEST(Help, ShowsTheFirstSteps) {
  const Ran ran = Program().run({"--help"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("Usage: huddle [OPTIONS] [COMMAND]"), HasSubstr("Commands:"),
                             HasSubstr("First steps:"), HasSubstr("Exit status:")));
  for (const auto& command : all_commands()) {
    EXPECT_THAT(ran.out, HasSubstr("\n  " + command->name() + " "));
  }
  EXPECT_EQ(Program().run({}).out, ran.out) << "no arguments at all ask for help too";
  EXPECT_EQ(Program().run({}).status, 0);
}

TEST(Help, OfEachCommandHasExamplesAndFits) {
  for (const Interface& command : program_interface().commands) {
    std::vector<std::string> words = words_of(command.name);
    words.emplace_back("--help");
    const Ran ran = Program().run(words);
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("Usage: huddle " + command.name + " "));
    EXPECT_THAT(ran.out, HasSubstr("Examples:\n  huddle " + command.name));
    EXPECT_THAT(joined(ran.out), StartsWith(joined(command.description)));
    for (const Listed& below : command.subcommands) {
      EXPECT_THAT(ran.out, HasSubstr("\n  " + below.name + " "));
    }
    EXPECT_THAT(ran.out, HasSubstr("--color auto|always|never"));
    for (const std::string& line : lines_of(ran.out)) EXPECT_LE(display_width(line), 80U) << line;
  }
}

TEST(Help, FitsNarrowTerminalsExceptForExamples) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"}, {"topo", "--help"}}) {
    Program program;
    program.environment("COLUMNS=40");
    const std::string help = program.run(words).out;
    // Examples are for copying and are not broken.
    const std::size_t end = std::min(help.find("Examples:"), help.find("First steps:"));
    ASSERT_NE(end, std::string::npos);
    EXPECT_THAT(help, HasSubstr("\n"
                                "  --color auto|always|never\n"
                                "    use colors"));
    for (const std::string& line : lines_of(help.substr(0, end))) {
      EXPECT_LE(display_width(line), 40U) << line;
    }
  }
}

TEST(Help, IsAsWideAsTheTerminalOrColumns) {
  const auto longest = [](const std::string& help) {
    std::size_t columns = 0;
    for (const std::string& line : lines_of(help)) columns = std::max(columns, display_width(line));
    return columns;
  };
  const std::vector<std::string> words = {"topo", "--help"};
  EXPECT_GT(longest(Program().run(words).out), 70U);
  EXPECT_LT(longest(Program().environment("COLUMNS=60").run(words).out), 61U);
  EXPECT_GT(longest(Program().environment("COLUMNS=60").run_in_terminal(80, words).out), 70U);
  for (const char* const nonsense : {"COLUMNS=", "COLUMNS=x", "COLUMNS=-3", "COLUMNS=0"}) {
    EXPECT_GT(longest(Program().environment(nonsense).run(words).out), 70U) << nonsense;
  }
}

TEST(Help, AcceptsOtherCommonSpellings) {
  Program program;
  EXPECT_EQ(program.run({"help"}).out, program.run({"--help"}).out);
  EXPECT_EQ(program.run({"help", "topo"}).out, program.run({"topo", "--help"}).out);
  EXPECT_EQ(program.run({"help", "run", "true"}).out, program.run({"run", "--help"}).out);
  EXPECT_EQ(program.run({"version"}).out, program.run({"--version"}).out);
  EXPECT_EQ(program.run({"version"}).status, 0);
  EXPECT_EQ(program.run({"-V"}).out, program.run({"--version"}).out);
  expect_usage({"help", "tpoo"}, "unknown command 'tpoo'; did you mean 'topo'?");
  expect_usage({"tpoo", "--help"}, "unknown command 'tpoo'; did you mean 'topo'?");
}

TEST(Subcommands, HaveTheirOwnHelp) {
  Program program;
  const Ran ran = program.run({"bench", "engine", "--help"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("--variants"), Not(HasSubstr("--peers"))));
  EXPECT_THAT(program.run({"bench", "--help"}).out,
              AllOf(HasSubstr("--peers"), Not(HasSubstr("--variants"))));
  EXPECT_EQ(program.run({"help", "bench", "engine"}).out, ran.out);
}

TEST(Subcommands, AreNamedForUnknownWords) {
  expect_usage({"bench", "engin"}, "unknown command 'bench engin'; did you mean 'engine'?");
  expect_usage({"bench", "engin", "--help"},
               "unknown command 'bench engin'; did you mean 'engine'?");
  expect_usage({"bench", "--variants"},
               "'huddle bench' has no option '--variants'; 'huddle bench engine' has");
  expect_usage({"bench", "engine", "compare"},
               "'huddle bench engine' does not accept the argument 'compare'");
  EXPECT_THAT(Program().run({"bench", "engine", "-x"}).err,
              HasSubstr("Try 'huddle bench engine --help'."));
}

TEST(Subcommands, RejectOptionsBeforeTheirName) {
  expect_usage({"bench", "--quick", "engine"},
               "--quick must follow the command: huddle bench engine --quick");
  expect_usage({"bench", "--table", "engine"},
               "--table must follow the command: huddle bench engine --table");
  expect_usage({"bench", "--sizes", "8", "engine"},
               "'huddle bench engine' has no option '--sizes'");
  EXPECT_EQ(Program().run({"bench", "--color", "never", "engine", "--help"}).status, 0);
}

TEST(Version, IsOneLine) {
  const Ran ran = Program().run({"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, ::testing::MatchesRegex("huddle [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Usage, SuggestsTheNearestCommand) {
  expect_usage({"tpoo"}, "unknown command 'tpoo'; did you mean 'topo'?");
  expect_usage({"--color", "never", "tpoo"}, "unknown command 'tpoo'; did you mean 'topo'?");
  expect_usage({"broadcast"}, "unknown command 'broadcast'");
  expect_usage({""}, "unknown command ''");
}

TEST(Usage, SuggestsTheNearestOption) {
  expect_usage({"doctor", "--jsno"},
               "'huddle doctor' has no option '--jsno'; did you mean '--json'?");
  expect_usage({"config", "--colr=never"},
               "'huddle config' has no option '--colr'; did you mean '--color'?");
  expect_usage({"--versoin"}, "'huddle' has no option '--versoin'; did you mean '--version'?");
  expect_usage({"doctor", "-x"}, "'huddle doctor' has no option '-x'");
}

TEST(Usage, ReportsThePlaceOfAMisplacedOption) {
  expect_usage({"run", "-n", "2", "true"},
               "'huddle run' has no option '-n'; options of COMMAND follow COMMAND");
  expect_usage({"--json", "doctor"}, "--json must follow the command: huddle doctor --json");
}

TEST(Usage, RejectsStrayArguments) {
  expect_usage({"doctor", "me"}, "'huddle doctor' does not accept the argument 'me'");
  expect_usage({"doctor", "--", "me"}, "'huddle doctor' does not accept the argument 'me'");
}

TEST(Usage, RejectsWrongValues) {
  expect_usage({"doctor", "--color"}, "--color needs one value");
  expect_usage({"doctor", "--color", "blue"}, "--color must be auto, always or never, not 'blue'");
}

TEST(Usage, RejectsInvalidNumbers) {
  for (const std::string value : {"0", "-1", "abc", "2.5", "99999999999", "4x"}) {
    expect_usage({"explain", "barrier", "-n", value},
                 "--ranks: '" + value + "' is not a whole number from 1 to 4096");
  }
}

TEST(Usage, RejectsEmptyValues) {
  const std::string why = ": the value is empty; is a variable unset?";
  expect_usage({"topo", "--machine", ""}, "--machine" + why);
  expect_usage({"topo", "--synthetic", ""}, "--synthetic" + why);
  expect_usage({"topo", "--xml="}, "--xml needs one value");
  expect_usage({"topo", "--svg", ""}, "--svg" + why);
  expect_usage({"calibrate", "--dry-run", "--output", ""}, "--output" + why);
  expect_usage({"config", ""}, "SETTING" + why);
}

TEST(Usage, PointsToTheRightHelp) {
  EXPECT_THAT(Program().run({"tpoo"}).err, HasSubstr("Try 'huddle --help'."));
  EXPECT_THAT(Program().run({"doctor", "-x"}).err, HasSubstr("Try 'huddle doctor --help'."));
}

TEST(Settings, UnknownVariableIsAWarning) {
  Program program;
  program.environment("HUDDLE_MACHNE=x");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"config"}, {"topo", "--synthetic", "core:2 pu:1"}}) {
    const Ran ran = program.run(words);
    EXPECT_EQ(ran.status, 0);
    EXPECT_NE(ran.out, "");
    EXPECT_EQ(ran.err,
              "huddle: warning: ignored: HUDDLE_MACHNE is not a setting; did you mean "
              "HUDDLE_MACHINE?\n");
  }
  EXPECT_EQ(program.run({"--help"}).status, 0) << "help is for those in trouble";
}

TEST(Settings, DamagedFileIsReportedWithItsLine) {
  Program program;
  program.home_file(".config/huddle/config.toml", "color = \"never\"\nmachin = \"x\"\n");
  const std::string error = program.home().path(".config/huddle/config.toml") +
                            ":2: unknown setting 'machin'; did you mean 'machine'?\n";
  const Ran topo = program.run({"topo", "--synthetic", "core:2 pu:1"});
  EXPECT_EQ(topo.status, 3);
  EXPECT_EQ(topo.err, "huddle: " + error);
  const Ran config = program.run({"config"});
  EXPECT_EQ(config.status, 0);
  EXPECT_THAT(config.out, HasSubstr("color            never"));
  EXPECT_EQ(config.err, "huddle: warning: ignored: " + error);
  EXPECT_THAT(program.run({"doctor"}).err, HasSubstr("huddle: warning: ignored: " + error));
}

TEST(Output, FullDiskIsAFailure) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--help"}, {"--version"}, {"config"}, {"topo"}}) {
    const Ran ran = Program().run_into("/dev/full", arguments);
    EXPECT_EQ(ran.status, 1) << arguments[0];
    EXPECT_EQ(ran.err, "huddle: cannot write the result: No space left on device\n");
  }
}

TEST(Output, ClosedPipeIsNotAnError) {
  const Ran ran = Program().run_into_closed_pipe({"config"});
  EXPECT_EQ(ran.status, 128 + SIGPIPE);
  EXPECT_EQ(ran.err, "");
}

TEST(Output, HasColorsOnlyInATerminalAndUnlessDisabled) {
  constexpr int wide = 100;
  const std::string escape = "\033[";
  EXPECT_THAT(Program().run({"doctor"}).out, Not(HasSubstr(escape)));
  EXPECT_THAT(Program().run({"doctor", "--color", "always"}).out, HasSubstr(escape));

  Program terminal;
  terminal.environment("TERM=xterm");
  EXPECT_THAT(terminal.run_in_terminal(wide, {"doctor"}).out, HasSubstr(escape));
  EXPECT_THAT(terminal.run_in_terminal(wide, {"doctor", "--color=never"}).out,
              Not(HasSubstr(escape)));
  Program dumb;
  dumb.environment("TERM=dumb");
  EXPECT_THAT(dumb.run_in_terminal(wide, {"doctor"}).out, Not(HasSubstr(escape)));
  Program no_color;
  no_color.environment("TERM=xterm").environment("NO_COLOR=1");
  EXPECT_THAT(no_color.run_in_terminal(wide, {"doctor"}).out, Not(HasSubstr(escape)));
  EXPECT_THAT(no_color.run_in_terminal(wide, {"doctor", "--color", "always"}).out,
              HasSubstr(escape));
}

TEST(Output, IsPlainAsciiUnlessTheLocaleAllowsMore) {
  Program plain;
  plain.environment("LC_ALL=C");
  for (const char* command : {"doctor", "config", "topo"}) {
    for (const char c : plain.run({command}).out) ASSERT_GE(c, 0) << command;
  }
  Program utf8;
  utf8.environment("LC_ALL=C.UTF-8");
  EXPECT_THAT(utf8.run({"doctor"}).out, HasSubstr("✓"));
  EXPECT_THAT(utf8.run({"doctor", "--unicode=never"}).out, Not(HasSubstr("✓")));
}

TEST(Output, FollowsTheWidthOfTheTerminal) {
  const Program program;
  // doctor prints sentences of more than 50 columns on any machine.
  EXPECT_LT(lines_of(program.run_in_terminal(110, {"doctor"}).out).size(),
            lines_of(program.run_in_terminal(50, {"doctor"}).out).size());
}

TEST(Doctor, ExitStatusReflectsFailuresOnly) {
  Program program;
  EXPECT_EQ(program.run({"doctor"}).status == 0,
            program.run({"doctor", "--json"}).out.find("\"fails\":0") != std::string::npos);
  program.home_file("damaged.toml", "schema = \n");
  const Ran ran = program.run({"doctor", "--machine", program.home().path("damaged.toml")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("damaged.toml:1"));
}

TEST(Config, ReportsTheOriginOfEachValue) {
  Program program;
  program.environment("HUDDLE_UNICODE=never")
      .home_file(".config/huddle/config.toml", "\nprogress = \"never\"\n");
  const Ran ran = program.run({"config", "--color", "always"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("always"));
  EXPECT_THAT(ran.out, HasSubstr("--color"));
  EXPECT_THAT(ran.out, HasSubstr("HUDDLE_UNICODE"));
  EXPECT_THAT(ran.out, HasSubstr(program.home().path(".config/huddle/config.toml:2")));
}

TEST(Config, ExplainsOneSetting) {
  const Ran ran = Program().run({"config", "color"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, StartsWith("color: "));
  expect_usage({"config", "colour"}, "unknown setting 'colour'; did you mean 'color'?");
}

}  // namespace
}  // namespace huddle::cli
