// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the command as a user would run it: options in, bytes on stdout or in files out.
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../../common/scratch.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/machine_list.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Accepts options by name, as the parser does from a command line.
class GivenOptions : public Options {
 public:
  void flag(const std::string& names, bool& target, const std::string&) override {
    flags_[names] = &target;
  }
  void text(const std::string& names, std::string& target, const std::string&,
            const std::string&) override {
    texts_[names] = &target;
  }
  void optional_text(const std::string&, std::string&, const std::string&, const std::string&,
                     const std::string&) override {}
  void number(const std::string&, int&, int, int, const std::string&, const std::string&) override {
  }
  void setting(const std::string& key) override { settings.push_back(key); }
  void positional(const std::string&, std::string&, const std::string&) override {}
  void rest(const std::string&, std::vector<std::string>&, const std::string&) override {}
  void exclude(const std::string& name, const std::string& other) override {
    exclusions.emplace_back(name, other);
  }

  void give(const std::string& name, const std::string& value) { *texts_.at(name) = value; }
  void give(const std::string& name) { *flags_.at(name) = true; }

  std::vector<std::string> settings;
  std::vector<std::pair<std::string, std::string>> exclusions;

 private:
  std::map<std::string, bool*> flags_;
  std::map<std::string, std::string*> texts_;
};

class Topo : public testing::Test {
 protected:
  Topo() {
    command_->declare(options_);
    context_.settings = settings::resolve({});
    context_.console.out = out_.get();
    context_.console.err = err_.get();
    context_.console.unicode = false;
  }

  void give_machine(const std::string& path) {
    EXPECT_THAT(options_.settings, testing::ElementsAre("machine"));
    settings::override_by_flag(context_.settings, "machine", path);
  }

  std::string run() {
    EXPECT_EQ(command_->run(context_), ExitCode::fine);
    return contents(out_.get());
  }

  static std::string contents(std::FILE* file) {
    std::fflush(file);
    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    return text;
  }

  static std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Closer> out_{std::tmpfile()};
  std::unique_ptr<std::FILE, Closer> err_{std::tmpfile()};
  std::unique_ptr<Command> command_ = make_topo_command();
  GivenOptions options_;
  Context context_;
  test::Scratch scratch_;
};

TEST_F(Topo, ShowsThisMachineWithTheAllowedHardwareThreads) {
  const std::string text = run();
  const int allowed = machine::discover_this_machine().allowed.count();
  EXPECT_THAT(text, HasSubstr("* " + std::to_string(allowed) + " of "));
  EXPECT_THAT(text, HasSubstr("hardware threads allowed"));
}

TEST_F(Topo, ShowsASyntheticMachine) {
  options_.give("--synthetic", "pack:2 core:2 pu:1");
  const std::string text = run();
  EXPECT_THAT(text, HasSubstr("package 1"));
  EXPECT_THAT(text, HasSubstr("uncalibrated: generic figures\n"))
      << "calibrate measures this machine, not that one";
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(Topo, AcceptsAMachineByItsName) {
  give_machine("songshan");
  EXPECT_THAT(run(), HasSubstr("/machines/songshan.toml)"));
}

TEST_F(Topo, ListsNamedMachines) {
  options_.give("--list-machines");
  context_.console.columns = 60;
  const std::string text = run();
  EXPECT_THAT(text, testing::ContainsRegex("(^|\n)songshan +32 cores"));
  EXPECT_THAT(text, testing::ContainsRegex("\nxeon-e5620-2s +8 cores of .*not"));
  EXPECT_THAT(text,
              testing::ContainsRegex("amd-epyc-2c-1b1d3050 +2 cores of [^\n]*, *\n? *measured"));
}

TEST_F(Topo, ListsMachinesAsJson) {
  options_.give("--list-machines");
  options_.give("--json");
  const json document = json::parse(run());
  EXPECT_EQ(document["command"], "topo");
  EXPECT_EQ(document["what"], "machines");
  for (const json& machine : document["machines"]) {
    EXPECT_EQ(machine["flaw"], nullptr) << machine;
    EXPECT_EQ(machine["calibration"] != "none", machine["calibrated"].get<bool>()) << machine;
    if (machine["name"] != "songshan") continue;
    EXPECT_EQ(machine["cores"], 32);
    EXPECT_EQ(machine["calibration"], "none");
  }
}

machine::Machine calibrated_quickly() {
  machine::Machine machine =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/amd-epyc-2c-1b1d3050.toml");
  machine.provenance.method = "quick calibration: 40 measurements";
  return machine;
}

TEST_F(Topo, ShowsAQuickCalibration) {
  EXPECT_THAT(machine_list_text({{"mine", "/x/mine.toml", calibrated_quickly(), ""}}, 80),
              HasSubstr("measured quickly"));
  const std::string path = scratch_.path("quick.toml");
  machine::write_machine_file(calibrated_quickly(), path);
  give_machine(path);
  EXPECT_THAT(run(), HasSubstr(", a quick run"));
}

TEST_F(Topo, ShowsAQuickCalibrationInJson) {
  const std::string path = scratch_.path("quick.toml");
  machine::write_machine_file(calibrated_quickly(), path);
  give_machine(path);
  options_.give("--json");
  EXPECT_EQ(json::parse(run())["calibration"], "quick");
}

TEST_F(Topo, ListsAMachineWithADamagedFile) {
  ListedMachine damaged{"mine", "/x/mine.toml", std::nullopt, "/x/mine.toml:1: not TOML"};
  EXPECT_EQ(machine_list_text({damaged}, 80), "mine  /x/mine.toml:1: not TOML\n");
  EXPECT_EQ(json::parse(machine_list_json({damaged}))["machines"][0]["flaw"], damaged.flaw);
}

TEST_F(Topo, ShowsAMachineFileWithoutAllowedSet) {
  const auto other = machine::discover_from_synthetic("pack:2 l3:2 core:4 pu:2").topology;
  const std::string path = scratch_.path("other.toml");
  machine::write_machine_file(machine::generic_machine(other), path);
  give_machine(path);
  const std::string text = run();
  EXPECT_THAT(text, HasSubstr("package 1"));
  EXPECT_THAT(text, HasSubstr(path));
  EXPECT_THAT(text, Not(HasSubstr("hardware threads allowed")));
  EXPECT_EQ(contents(err_.get()), "") << "it was asked for";
}

TEST_F(Topo, WarnsOfAnotherMachinesFileThatWasNotRequested) {
  const auto other = machine::discover_from_synthetic("pack:2 l3:2 core:4 pu:2").topology;
  machine::write_machine_file(machine::generic_machine(other), scratch_.path("other.toml"));
  scratch_.write("config.toml", "machine = \"other.toml\"\n");
  context_.settings = settings::resolve({{}, scratch_.path("config.toml"), ""});
  run();
  EXPECT_THAT(contents(err_.get()),
              AllOf(HasSubstr("warning: " + scratch_.path("other.toml") + " describes"),
                    HasSubstr(fingerprint(other))));
}

TEST_F(Topo, SettingNamesAMachineToo) {
  const auto other = machine::discover_from_synthetic("pack:3 core:2 pu:1").topology;
  const std::string path = scratch_.path("other.toml");
  machine::write_machine_file(machine::generic_machine(other), path);
  context_.settings = settings::resolve({{"HUDDLE_MACHINE=" + path}, "", ""});
  EXPECT_THAT(run(), HasSubstr("package 2"));
}

TEST_F(Topo, MissingFileIsBadInput) {
  give_machine(scratch_.path("missing.toml"));
  EXPECT_THROW(command_->run(context_), InputError);
}

TEST_F(Topo, AllowsOneSourceAndOneStdout) {
  EXPECT_EQ(options_.exclusions.size(), 8U);
  options_.give("--svg", "-");
  options_.give("--json");
  EXPECT_THROW(command_->run(context_), UsageError);
}

TEST_F(Topo, DrawsIntoFiles) {
  options_.give("--synthetic", "core:2 pu:1");
  options_.give("--svg", scratch_.path("a.svg"));
  EXPECT_EQ(run(), "");
  EXPECT_THAT(contents(scratch_.path("a.svg")), HasSubstr("</svg>"));
  EXPECT_THAT(contents(err_.get()), HasSubstr("wrote "));
}

TEST_F(Topo, DrawsToStdout) {
  options_.give("--synthetic", "core:2 pu:1");
  options_.give("--svg", "-");
  EXPECT_THAT(run(), HasSubstr("</svg>"));
}

TEST_F(Topo, ReportsWhyAPictureCannotBeWritten) {
  options_.give("--svg", scratch_.path("no/such/folder/a.svg"));
  EXPECT_THROW(command_->run(context_), FailureError);
}

TEST_F(Topo, JsonHasTheModel) {
  options_.give("--synthetic", "pack:2 core:2 pu:2");
  options_.give("--json");
  const json document = json::parse(run());
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["calibrated"], false);
  EXPECT_EQ(document["machine_file"], nullptr);
  EXPECT_EQ(document["allowed"].size(), 8U);
  EXPECT_EQ(document["topology"]["cores"], 4);
  EXPECT_EQ(document["topology"]["levels"][0]["name"], "core");
  EXPECT_EQ(document["topology"]["levels"][0]["groups"][1], json({2, 3}));
  EXPECT_EQ(document["pairs"], nullptr);
  EXPECT_EQ(document["line"].size(), 3U);
  EXPECT_EQ(document["line"][0]["origin"], "estimated");
  EXPECT_TRUE(document["doubts"].empty());
}

TEST_F(Topo, JsonHasMeasuredPairsRowByRow) {
  machine::Machine machine =
      machine::generic_machine(machine::discover_from_synthetic("core:2 pu:1").topology);
  machine.pairs = machine::LinePairs{{0, 1}, {0, 47, 47, 0}, "every pair"};
  machine.line[0].origin = machine::Origin::measured;
  const std::string path = scratch_.path("measured.toml");
  machine::write_machine_file(machine, path);
  give_machine(path);
  options_.give("--json");
  const json document = json::parse(run());
  EXPECT_EQ(document["calibrated"], true);
  EXPECT_EQ(document["pairs"]["one_way_ns"], json({{0.0, 47.0}, {47.0, 0.0}}));
  EXPECT_EQ(document["allowed"], nullptr);
  EXPECT_TRUE(document["differences"].is_array());
}

}  // namespace
}  // namespace huddle::cli
