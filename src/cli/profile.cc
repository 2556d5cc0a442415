// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle profile`: who talks to whom in a program.
#include "cli/command.h"
#include "cli/profile_accuracy.h"
#include "cli/profile_threads.h"

namespace huddle::cli {
namespace {

class ProfileCommand : public Command {
 public:
  std::string name() const override { return "profile"; }
  std::string summary() const override { return "say who talks to whom in a program"; }
  std::string description() const override {
    return "Runs COMMAND to its end and watches which of its threads write to the same memory, one "
           "after the other. The program is as it is, and needs no root: some of its pages are "
           "write-protected again and again, and the kernel's page faults tell which thread wrote "
           "next. That is kept to 2 % of the processor time that the program uses. Reads are "
           "not seen.";
  }
  std::string examples() const override {
    return "  huddle profile ./app\n"
           "  huddle profile -o app.json ./app     for huddle map app.json\n"
           "  huddle profile --record app.touches ./app\n"
           "                                       for huddle watch --replay app.touches\n"
           "  huddle profile --accuracy            how well is it seen? tried on patterns\n"
           "\n"
           "Exit status: COMMAND's own; 2 if there is none to execute. With --accuracy 0, or 1 if "
           "a "
           "pattern was not seen as it is.";
  }
  void declare(Options& options) override {
    options.text("-o,--output", output_, "FILE", "write the matrix there, for huddle map");
    options.text("--record", record_, "FILE",
                 "write all that was seen there, for huddle watch --replay");
    options.flag(
        "--accuracy", accuracy_,
        "watch programs whose sharing is known, and compare; COMMAND may name one pattern");
    options.number("--seconds", seconds_, 1, 3600, "N", "of each pattern; 3");
    options.setting("machine");
    options.flag("--json", json_, "print everything as JSON");
    options.rest("COMMAND", command_, "the program, and all its words");
  }
  ExitCode run(const Context& context) override {
    if (accuracy_) {
      if (command_.size() > 1)
        throw UsageError("--accuracy takes the name of one pattern, or none");
      return profile_accuracy(context, {command_.empty() ? "" : command_.front(), seconds_, json_});
    }
    if (command_.empty()) {
      throw UsageError("profile what? Say it behind huddle's own options: huddle profile ./app");
    }
    return profile_threads(context, {command_, output_, record_, json_});
  }

 private:
  std::vector<std::string> command_;
  std::string output_, record_;
  int seconds_ = 3;
  bool accuracy_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace huddle::cli
