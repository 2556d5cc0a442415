// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench engine: huddle's collectives inside a node against bare code, without any MPI.
#include "cli/bench_options.h"

namespace huddle::cli {
namespace {

constexpr int most_rounds = 1000;

class BenchEngineCommand : public Command {
 public:
  std::string name() const override { return "engine"; }
  std::string summary() const override {
    return "time huddle's collectives against bare code, without any MPI";
  }
  std::string description() const override {
    return "Times huddle's collectives inside a node against the best that one can write by hand "
           "for just one case, in the same run, in turns, without any MPI; data are checked. What "
           "has to hold is a ratio, its bar. With --variants: the algorithms of the papers side by "
           "side. With --table: every algorithm of every operation, predicted and measured.";
  }
  std::string examples() const override {
    return "  huddle bench engine             every bar (a minute, 2 cores)\n"
           "  huddle bench engine --quick     a first idea: 3 short rounds in place of 10\n"
           "  huddle bench engine --variants -n 16\n"
           "                                  the papers' variants as well, with 16 ranks\n"
           "  huddle bench engine --table     every algorithm, what it needs and takes\n"
           "  huddle bench engine --table --dry-run -n 32 --machine node.toml\n"
           "                                  as predicted, for a machine elsewhere\n\n"
           "Exit status: 0 fine, 1 a bar is missed.";
  }
  void declare(Options& options) override {
    options.flag("--quick", given_.quick, "few rounds, each of them short");
    options.number("--rounds", given_.rounds, 1, most_rounds, "N",
                   "rounds in place of 10, or of 3 with --quick");
    options.flag("--variants", given_.variants, "the papers' variants, too");
    options.flag("--table", given_.table,
                 "every algorithm of every operation, what it needs, what it was predicted to take "
                 "and what it takes, by size");
    options.number("-n,--ranks", given_.ranks, 2, most_bench_ranks, "N",
                   "with --table ranks in place of 2, with --variants of one a core");
    options.flag("--markdown", given_.markdown, "with --table: as Markdown");
    options.flag("--dry-run", given_.dry_run, "with --table: only what is predicted");
    options.optional_text("--json", given_.json, json_on_stdout, "FILE",
                          "every figure as JSON, to a file or in place of the tables");
    options.flag("--as-is", given_.as_is,
                 "choose by the machine file that is found; do not measure first");
    options.setting("machine");
    options.exclude("--table", "--variants");
  }
  ExitCode run(const Context& context) override {
    check_options();
    return given_.table ? bench_table(context, given_) : bench_engine(context, given_);
  }

 private:
  void check_options() const {
    if (given_.ranks > 0 && !given_.variants && !given_.table) {
      throw UsageError(
          "--ranks is how many the variants or the table get; the others have their number: add "
          "--variants or --table");
    }
    if (!given_.table && (given_.markdown || given_.dry_run)) {
      throw UsageError("--markdown and --dry-run are for --table");
    }
    if (given_.markdown && given_.json == json_on_stdout) {
      throw UsageError("--json and --markdown both want standard output; name a file: --json FILE");
    }
  }

  EngineBenchOptions given_;
};

}  // namespace

std::unique_ptr<Command> make_bench_engine_command() {
  return std::make_unique<BenchEngineCommand>();
}

}  // namespace huddle::cli
