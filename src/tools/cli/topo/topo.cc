// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle topo`: shows a machine's topology and its core-to-core latencies.

#include <fmt/format.h>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "common/file.h"
#include "common/other_processes.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/machine_list.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/topo/topo_report.h"
#include "tools/launch/program.h"
#include "tools/picture/picture.h"

namespace huddle::cli {
namespace {

namespace fs = std::filesystem;

// A large picture on a busy machine takes a few seconds.
constexpr std::chrono::seconds patience{60};
// rsvg-convert renders 4/3 pixels per point.
constexpr const char* zoom = "1.5";
constexpr std::string_view way_out = "write an SVG with --svg instead";

std::string converter() {
  const char* const search_path = std::getenv("PATH");
  const auto program =
      launch::find_program("rsvg-convert", search_path == nullptr ? "" : search_path);
  if (!program) {
    throw FailureError(
        fmt::format("--png requires rsvg-convert, which is not in PATH: install it (Debian: "
                    "librsvg2-bin), or {}",
                    way_out));
  }
  return *program;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// Returns whether the file has both its first and its last bytes.
bool is_whole_png(std::string_view bytes) {
  return bytes.starts_with("\x89PNG\r\n") && bytes.ends_with("IEND\xAE\x42\x60\x82");
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string png_from(const std::string& svg) {
  const std::string program = converter();
  std::error_code error;
  const TemporaryFolder folder(fs::temp_directory_path(error) / "huddle-png", error);
  if (error) {
    throw FailureError(fmt::format(
        "cannot make a temporary folder: {}; set TMPDIR to a folder that you may write to",
        error.message()));
  }
  const std::string from = folder.path() / "picture.svg";
  const std::string to = folder.path() / "picture.png";
  write_text(svg, from);
  const auto output =
      run_program({program, "--format", "png", "--zoom", zoom, "--output", to, from}, patience);
  if (!output) throw FailureError(fmt::format("cannot start {}; {}", program, way_out));
  if (output->too_slow) {
    throw FailureError(
        fmt::format("{} did not finish within {} s; {}", program, patience.count(), way_out));
  }
  std::string png = bytes_of(to);
  if (!is_whole_png(png)) {
    throw FailureError(fmt::format(
        "{} wrote no PNG ({}); {}", program,
        output->text.empty() ? "it printed no reason" : first_line(output->text), way_out));
  }
  return png;
}

namespace {

using picture::Subject;

// Returns a machine without measurements, as described by hwloc.
Subject recorded(const machine::Discovery& discovery, const std::string& name) {
  Subject subject{machine::generic_machine(discovery.topology), discovery.allowed, ""};
  subject.machine.name = name;
  subject.measurable = false;
  return subject;
}

// Returns whether the setting must name this machine. --machine and HUDDLE_MACHINE may name another
// machine. A file that was searched for, or that a configuration file names permanently, is
// expected to describe this machine.
bool meant_for_this_machine(const settings::Resolved& setting) {
  switch (setting.layer) {
    case settings::Layer::command_line:
    case settings::Layer::environment:
      return false;
    case settings::Layer::user_file:
    case settings::Layer::site_file:
    case settings::Layer::built_in:
      return true;
  }
  return true;
}

// Returns this machine or the one that the setting `machine` names, for which the set of allowed
// hardware threads is not known.
Subject this_or_named(const Context& context) {
  const machine::Discovery discovery = machine::discover_this_machine();
  SelectedMachine machine = machine_in_question(context, discovery.topology);
  if (!machine.is_here() && meant_for_this_machine(settings::find(context.settings, "machine"))) {
    context.console.note("warning: " + machine.difference());
  }
  Subject subject{std::move(machine.loaded.machine), std::nullopt, machine.loaded.path};
  if (machine.is_here()) subject.allowed = discovery.allowed;
  return subject;
}

class TopoCommand : public Command {
 public:
  std::string name() const override { return "topo"; }
  std::string summary() const override {
    return "show a machine: its topology and core-to-core latencies";
  }
  std::string description() const override {
    return "Draws what the hardware threads of a machine share, marks those that this process may "
           "use, and shows the latency of a cache line between any two cores. Latencies are "
           "measured (huddle calibrate), given by a machine file, or else generic. The default is "
           "this machine.";
  }
  std::string examples() const override {
    return "  huddle topo\n"
           "  huddle topo --svg machine.svg\n"
           "  huddle topo --machine songshan\n"
           "  huddle topo --list-machines   all machines with a name\n"
           "  huddle topo --synthetic \"pack:2 l3:4 core:8 pu:2\"\n"
           "  huddle topo --json | jq .line";
  }

  void declare(Options& options) override {
    options.setting("machine");
    described_.declare(options);
    options.text("--svg", svg_, "FILE", "write an SVG picture to FILE, or to standard output (-)");
    options.text("--png", png_, "FILE",
                 "write a PNG picture to FILE, or to standard output (-); requires rsvg-convert "
                 "(Debian: librsvg2-bin)");
    options.flag("--list-machines", list_, "list the machines that --machine accepts by name");
    options.flag("--json", json_, "print everything as JSON");
    for (const char* const other : {"--machine", "--xml", "--synthetic", "--svg", "--png"}) {
      options.exclude("--list-machines", other);
    }
    options.exclude("--machine", "--xml");
    options.exclude("--machine", "--synthetic");
  }

  ExitCode run(const Context& context) override {
    const Console& console = context.console;
    if (list_) {
      console.print(json_ ? machine_list_json(list_machines())
                          : machine_list_text(list_machines(), console.columns));
      return ExitCode::fine;
    }
    const int on_stdout = (svg_ == "-" ? 1 : 0) + (png_ == "-" ? 1 : 0) + (json_ ? 1 : 0);
    if (on_stdout > 1)
      throw UsageError("only one of --svg -, --png - and --json can write to standard output");
    const Subject subject = chosen(context);
    if (!svg_.empty() || !png_.empty()) draw(console, subject);
    if (json_) {
      console.print(topo_json(subject));
    } else if (svg_.empty() && png_.empty()) {
      console.print(picture::as_text(subject, {console.columns, console.color, console.unicode}));
    }
    return ExitCode::fine;
  }

 private:
  void draw(const Console& console, const Subject& subject) const {
    const std::string svg = picture::as_svg(subject);
    // Converted first, so that no file is written if the conversion fails.
    const std::string png = png_.empty() ? "" : png_from(svg);
    if (!svg_.empty()) console.deliver(svg_, svg);
    if (!png_.empty()) console.deliver(png_, png);
  }

  Subject chosen(const Context& context) const {
    return described_.is_given() ? recorded(described_.discover(), described_.name())
                                 : this_or_named(context);
  }

  DescribedMachine described_;
  std::string svg_, png_;
  bool list_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_topo_command() { return std::make_unique<TopoCommand>(); }

}  // namespace huddle::cli
