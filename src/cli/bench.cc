// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench: what huddle does, against what is done without it, side by side.
#include <algorithm>
#include <array>

#include "base/file.h"
#include "cli/bench_compare.h"
#include "cli/bench_options.h"
#include "select/operation.h"

namespace huddle::cli {
namespace {

constexpr int most_rounds = 1000;
constexpr int most_ranks = 1024;
constexpr int most_seconds = 86400;

class BenchCommand : public Command {
 public:
  std::string name() const override { return "bench"; }
  std::string summary() const override { return "time huddle against your MPI, side by side"; }
  std::string description() const override {
    return "Times an MPI's own collectives against huddle's in the same processes, with the same "
           "buffers, in turns; data change from call to call and are checked. A time is that from "
           "the last rank in to the last rank out. The ratio says how many times faster huddle is, "
           "and its interval how sure that is; a point that is still unsure when its time is over "
           "is marked. With --engine: huddle's collectives against the best that one can write by "
           "hand for just one case, without any MPI.";
  }
  std::string examples() const override {
    return "  huddle bench                    the MPI whose mpirun is on the PATH, 2 ranks\n"
           "  huddle bench --quick            a first idea, in less than a minute\n"
           "  huddle bench -n 16 --ops bcast,allreduce --sizes 8:4M\n"
           "  huddle bench --mpi /opt/mpi/bin/mpiexec --json bench.json\n"
           "  huddle bench --peers DIR        the best of all that bench/peers DIR set up\n"
           "  huddle bench --json now.json && huddle report now.json\n"
           "                                  every sample to a file, and that as a page\n"
           "  huddle bench --compare then.json now.json\n"
           "                                  what has become faster or slower since then\n"
           "  huddle bench --engine           every bar of the engine (a minute, 2 cores)\n"
           "  huddle bench --engine --variants -n 16\n"
           "                                  the papers' variants as well, with 16 ranks\n"
           "  huddle bench --engine --table   every algorithm, what it needs and takes\n"
           "  huddle bench --engine --table --dry-run -n 32 --machine node.toml\n"
           "                                  as predicted, for a machine elsewhere\n\n"
           "Exit status: 0 fine, 1 a bar is missed: with --engine one of those that it prints, "
           "with "
           "--peers an interval that lies below 0.9, six times in a row, with --compare a change "
           "that "
           "does.";
  }
  void declare(Options& options) override {
    options.text("--ops", given_.ops, "OP,...", "the collectives to time; all");
    options.complete("--ops", Value::list,
                     {select::operation_names.begin(), select::operation_names.end()});
    options.text("--sizes", given_.sizes, "FROM:TO",
                 "sizes, by factors of 4, or a list such as 8,64K; 8:4M");
    options.number("-n,--ranks", given_.ranks, 2, most_ranks, "N",
                   "ranks in place of 2, or of one a core with --variants");
    options.flag("--quick", given_.quick, "few sizes, wider intervals");
    options.number("--seconds", given_.seconds, 1, most_seconds, "N",
                   "time for all points together, at most");
    options.optional_text("--json", given_.json, json_on_stdout, "FILE",
                          "every sample as JSON, to a file or in place of the tables");
    options.text("--mpi", given_.mpi, "LAUNCHER", "the MPI to time, by its launcher");
    options.text("--mpi-library", given_.mpi_library, "FILE",
                 "its library, where the launcher does not tell");
    options.text("--peers", given_.peers, "DIR", "the best of several MPIs, set up by bench/peers");
    options.text("--under", given_.under, "NAME", "with --peers: the MPI that huddle runs under");
    options.flag("--engine", given_.engine, "the collectives inside of a node, without any MPI");
    options.flag("--variants", given_.variants, "with --engine: the papers' variants, too");
    options.flag("--table", given_.table,
                 "with --engine: every algorithm of every operation, what it needs, what it was "
                 "predicted to take and what it takes, by size");
    options.flag("--markdown", given_.markdown, "with --table: as Markdown");
    options.flag("--dry-run", given_.dry_run, "with --table: only what is predicted");
    options.number("--rounds", given_.rounds, 1, most_rounds, "N",
                   "with --engine: rounds in place of 10, or 3");
    options.flag("--as-is", given_.as_is,
                 "with --engine: choose by the machine file that is found; do not measure first");
    options.pair("--compare", given_.compare, "A.json B.json",
                 "measure nothing: what has become faster or slower from one result to another");
    options.complete("--compare", Value::file);
    options.setting("heap");
    options.setting("machine");
    for (const char* const name : {"--ops", "--sizes", "--mpi", "--peers", "--seconds"}) {
      options.exclude("--engine", name);
    }
    for (const char* const name : {"--engine", "--ops", "--sizes", "--ranks", "--quick",
                                   "--seconds", "--json", "--mpi", "--peers"}) {
      options.exclude("--compare", name);
    }
    options.exclude("--table", "--variants");
    options.exclude("--peers", "--mpi");
    options.exclude("--peers", "--mpi-library");
  }
  ExitCode run(const Context& context) override {
    if (!given_.compare.empty()) return compare(context.console);
    check_options();
    if (!given_.engine) return bench_mpi(context, given_);
    return given_.table ? bench_table(context, given_) : bench_engine(context, given_);
  }

 private:
  ExitCode compare(const Console& console) const {
    const MeasuredRun before = read_measured_run(given_.compare.front());
    const MeasuredRun after = read_measured_run(given_.compare.back());
    const std::vector<Change> all = changes(before, after);
    console.print(bench_compare_text(before, after, all, console.columns));
    if (all.empty()) throw InputError("the two have no point in common");
    const bool is_fine = std::none_of(
        all.begin(), all.end(), [](const Change& change) { return change.is_slower_than_bar(); });
    return is_fine ? ExitCode::fine : ExitCode::failure;
  }

  void check_options() const {
    if (given_.engine && given_.ranks > 0 && !given_.variants && !given_.table) {
      throw UsageError(
          "--ranks is how many the variants or the table get; the others have their number: add "
          "--variants or --table");
    }
    if (!given_.engine && (given_.variants || given_.table || given_.as_is || given_.rounds > 0)) {
      throw UsageError("--variants, --table, --as-is and --rounds are for --engine");
    }
    if (!given_.table && (given_.markdown || given_.dry_run)) {
      throw UsageError("--markdown and --dry-run are for --table");
    }
    if (given_.markdown && given_.json == json_on_stdout) {
      throw UsageError("--json and --markdown both want standard output; name a file: --json FILE");
    }
    if (!given_.under.empty() && given_.peers.empty()) {
      throw UsageError("--under chooses one of the MPIs that --peers names");
    }
  }

  BenchOptions given_;
};

}  // namespace

void put_json(const Console& console, const std::string& text, const std::string& where) {
  if (where == json_on_stdout) {
    console.print(text);
  } else {
    write_text(text, where);
  }
}

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace huddle::cli
