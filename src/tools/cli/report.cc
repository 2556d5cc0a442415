// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle report`: starts the front end that draws results of `huddle bench`, reports of `huddle
// watch` about threads, and statistics of MPI jobs.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/cli/command.h"
#include "tools/launch/front_end.h"

namespace huddle::cli {
namespace {

// Replaces this process, so that the program's output and exit status become huddle's.
[[noreturn]] void become(std::vector<std::string> words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  ::execv(all.front(), all.data());
  throw FailureError(fmt::format("cannot execute {}: {}", words.front(), std::strerror(errno)));
}

class ReportCommand : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "draw results of bench, run, watch, paths or ucx as an HTML file";
  }
  std::string description() const override {
    return "Writes one HTML file with the results of 'huddle bench --json FILE': the machine, the "
           "speedup by operation and size, the times of each operation with their confidence "
           "intervals, the selected algorithms and the reasons, and how to repeat the "
           "measurement. From the output of 'huddle watch --json' it makes an animation with a "
           "slider: which threads share pages, where each runs, and the decisions with their "
           "reasons. From the outputs of 'huddle paths --json' and 'huddle ucx --check --json' it "
           "draws the paths inside the node and how UCX uses them. From the output of 'huddle run "
           "--stats-json FILE' it draws how long the ranks of an MPI job waited and transferred "
           "data in each collective. The file is self-contained and needs no network. It is drawn "
           "by Python with matplotlib; if one of them is missing, an error message explains how "
           "to install it.";
  }
  std::string examples() const override {
    return "  huddle report bench.json                 writes bench.html\n"
           "  huddle report bench.json --output node.html\n"
           "  huddle watch --replay app.touches --json > app.json; huddle report app.json\n"
           "                                           an animation of a program's threads\n"
           "  huddle report bench.json --output - | ssh desk 'cat > node.html'\n\n"
           "In a notebook, after 'pip install ./python' in huddle's sources: import huddle; "
           "huddle.load(\"bench.json\").\n\n"
           "Exit status: 0 success, 1 the file cannot be drawn or written, 3 RESULTS is not a file "
           "that this version of huddle reads.";
  }
  void declare(Options& options) override {
    options.positional("RESULTS", results_,
                       "a file that bench, watch, paths or ucx --check wrote with --json, or run "
                       "with --stats-json");
    options.complete("RESULTS", Value::file);
    options.text("-o,--output", output_, "FILE",
                 "the file to write, or - for standard output (default: RESULTS with .html instead "
                 "of .json)");
  }
  ExitCode run(const Context& context) override {
    if (results_.empty()) {
      throw UsageError(
          "a file of results is required; measure first: huddle bench --json bench.json; huddle "
          "report bench.json");
    }
    const char* const path = std::getenv("PATH");
    std::error_code error;
    const std::string own = std::filesystem::read_symlink("/proc/self/exe", error).string();
    const launch::FrontEnd front_end = launch::find_front_end(own, path == nullptr ? "" : path);
    if (context.pipe_signal_was_ignored) std::signal(SIGPIPE, SIG_IGN);
    std::vector<std::string> arguments;
    if (!output_.empty()) arguments = {"--output=" + output_};
    arguments.insert(arguments.end(), {"--", results_});
    become(launch::front_end_command(front_end, "huddle.report", arguments));
  }

 private:
  std::string results_, output_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace huddle::cli
