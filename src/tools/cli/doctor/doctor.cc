// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>

#include "common/text.h"
#include "tools/cli/command.h"
#include "tools/cli/doctor/doctor_report.h"
#include "tools/cli/terminal_text.h"
#include "tools/doctor/doctor.h"

namespace huddle::cli {
namespace {

using doctor::Finding;
using doctor::State;

constexpr int name_width = 8;  // "Remedy: "
// Text with less space than this beside its title goes below it.
constexpr int least_room = 30;

struct Mark {
  std::string_view unicode;
  std::string_view ascii;
  std::string_view color;
};

Mark mark_of(State state) {
  switch (state) {
    case State::works:
      return {"✓", "ok", "\033[32m"};
    case State::limited:
      return {"!", "! ", "\033[33m"};
    case State::fails:
      return {"✗", "X ", "\033[31m"};
  }
  return {};
}

std::string painted(std::string_view text, std::string_view color, const Console& console) {
  return console.color ? fmt::format("{}{}\033[0m", color, text) : std::string(text);
}

// Formats the report with common column widths for all lines.
class Report {
 public:
  Report(const std::vector<Finding>& findings, const Console& console)
      : console_(console), columns_(std::min(console.columns, most_report_columns)) {
    for (const Finding& finding : findings) {
      title_width_ = std::max(title_width_, static_cast<int>(display_width(finding.what)));
    }
  }

  void group(const std::string& name) {
    text_ += (text_.empty() ? "" : "\n") + painted(name, "\033[1m", console_) + "\n";
  }

  void finding(const Finding& finding) {
    const Mark mark = mark_of(finding.state);
    const std::string_view sign = console_.unicode ? mark.unicode : mark.ascii;
    const int indent = 2 + static_cast<int>(display_width(sign)) + 1;
    // The mark is inserted last because color codes have no width.
    const std::string body = facts(finding, indent);
    text_ += "  " + painted(sign, mark.color, console_) +
             body.substr(static_cast<std::size_t>(indent - 1));
    detail("Effect", finding.cost, indent + 2);
    detail("Remedy", finding.remedy, indent + 2);
    // Never broken, so that it can be copied.
    if (!finding.command.empty())
      text_ += spaces(indent + 2 + name_width) + printable(finding.command) + "\n";
  }

  void line(const std::string& text) { text_ += wrap("", text, 0, columns_); }
  void gap() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  // Returns the title and the text, indented by `indent` columns.
  std::string facts(const Finding& finding, int indent) const {
    const std::string margin = spaces(indent);
    const std::string found = printable(finding.found);
    const int hang = indent + title_width_ + 2;
    if (columns_ - hang >= least_room) {
      return wrap(margin + padded(finding.what, title_width_ + 2), found, hang, columns_);
    }
    return margin + finding.what + "\n" + wrap(margin + "  ", found, indent + 2, columns_);
  }

  void detail(std::string_view name, const std::string& words, int indent) {
    if (words.empty()) return;
    text_ += wrap(spaces(indent) + padded(fmt::format("{}:", name), name_width), printable(words),
                  indent + name_width, columns_);
  }

  const Console& console_;
  int columns_;
  int title_width_ = 0;
  std::string text_;
};

std::string verdict(int limited, int failed) {
  if (failed > 0) return "huddle cannot work here until the failed checks are fixed.";
  if (limited > 0) return "huddle works here; the remedies above make it faster or complete.";
  return "huddle works here without limitations.";
}

}  // namespace

std::string doctor_text(const std::vector<Finding>& findings, const Console& console) {
  Report report(findings, console);
  std::string group;
  for (const Finding& finding : findings) {
    if (finding.group != group) report.group(finding.group);
    group = finding.group;
    report.finding(finding);
  }
  const int limited = count(findings, State::limited);
  const int failed = count(findings, State::fails);
  report.gap();
  report.line(fmt::format("{} checks: {} passed, {} limited, {} failed. {}", findings.size(),
                          count(findings, State::works), limited, failed,
                          verdict(limited, failed)));
  return report.text();
}

namespace {

class DoctorCommand : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override {
    return "check whether huddle works on this machine, and suggest remedies";
  }
  std::string description() const override {
    return "Checks everything that huddle needs from this machine, and shows what works, what does "
           "not, the consequence, and the remedy. It changes nothing, except that it restores the "
           "CPU affinity of threads that a killed huddle left bound. Run it where your programs "
           "run: inside the container, inside the job.";
  }
  std::string examples() const override {
    return "  huddle doctor                 a readable report\n"
           "  huddle doctor --json          the same for programs\n"
           "  srun -N1 huddle doctor        on a node of a job\n\n"
           "Exit status:\n"
           "  0  huddle works here; checks marked '!' make it slower or limit it, such as a\n"
           "     missing MPI, which multithreaded programs do not need\n"
           "  1  a check failed that huddle depends on";
  }
  void declare(Options& options) override {
    options.setting("machine");
    options.flag("--json", json_, "print everything as JSON");
  }
  bool ignores_wrong_settings() const override { return true; }
  ExitCode run(const Context& context) override {
    const char* const search_path = std::getenv("PATH");
    const settings::Resolved& machine = settings::find(context.settings, "machine");
    const auto findings =
        doctor::examine({.machine_file = {machine.value, machine.where},
                         .search_path = search_path == nullptr ? "" : search_path});
    context.console.print(json_ ? doctor_json(findings) : doctor_text(findings, context.console));
    return count(findings, doctor::State::fails) == 0 ? ExitCode::fine : ExitCode::failure;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace huddle::cli
