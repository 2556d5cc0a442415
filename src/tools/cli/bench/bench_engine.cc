// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench engine: compares huddle's collectives within a node with hand-written code.

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "common/arithmetic.h"
#include "common/text.h"
#include "huddle/huddle.h"
#include "model/machine/topology.h"
#include "tools/bench/engine/engine_comparisons.h"
#include "tools/bench/engine/run_comparison.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/statistics.h"
#include "tools/cli/bench/bench_json.h"
#include "tools/cli/bench/bench_options.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/document_json.h"
#include "tools/cli/progress.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

using bench::Bar;
using bench::EntryResult;
using bench::Result;

// The columns of all tables are aligned.
constexpr TableLook engine_look = {.indent = 2, .name_columns = 34};

double median_ns(const EntryResult& entry) { return median_of(entry.ns); }

std::string throughput_text(double bytes, double ns) {
  return fmt::format("{:.1f} GB/s", bytes / ns);
}

// The results of a verdict's two sides and its bar as text.
struct Sides {
  std::string subject;
  std::string rival;
  std::string bar;
};

Sides sides(const bench::Verdict& verdict, const Result& result) {
  const double subject_ns = median_ns(result.entries[verdict.subject]);
  const double rival_ns = median_ns(result.entries[verdict.rival]);
  switch (verdict.bar.kind) {
    case Bar::Kind::time_at_most:
      return {time_text(subject_ns), time_text(rival_ns), fmt::format("<= {}", verdict.bar.limit)};
    case Bar::Kind::rate_at_least:
      return {throughput_text(verdict.subject_bytes, subject_ns),
              throughput_text(verdict.rival_bytes, rival_ns),
              fmt::format(">= {}", verdict.bar.limit)};
  }
  return {};
}

std::string verdict_table(const EngineBenchReport& report, int columns) {
  Table table({"requirement", "huddle", "reference", "ratio", "spread", "limit", ""}, engine_look);
  bool is_empty = true;
  for (const Result& result : report.results) {
    for (const bench::Verdict& verdict : result.verdicts) {
      const Sides both = sides(verdict, result);
      table.add({verdict.what, both.subject, both.rival, fmt::format("{:.2f}", verdict.median),
                 percent(verdict.spread), both.bar, verdict.holds ? "ok" : "missed"});
      is_empty = false;
    }
  }
  return is_empty ? "" : "\n" + table.text(columns);
}

// Describes the placement of the ranks and their interruptions. Ranks that share cores interrupt
// each other, so those switches are not reported.
std::string circumstances(const Result& result) {
  std::string where = fmt::format("{}, {} round{}", text(result.binding), result.rounds,
                                  result.rounds == 1 ? "" : "s");
  if (result.switched_away == 0 || result.binding.oversubscribed()) return where;
  return where +
         fmt::format("; other processes interrupted the ranks {} times", result.switched_away);
}

std::string prediction_text(const EntryResult& entry) {
  if (!entry.predicted_ns) return "-";
  const bool is_far = is_mispredicted(*entry.predicted_ns, median_ns(entry));
  return fmt::format("{}{}", time_text(*entry.predicted_ns), is_far ? misprediction_mark : "");
}

std::string entry_table(const Result& result, int columns) {
  if (result.rounds == 0) return "";
  const bool predicted =
      std::any_of(result.entries.begin(), result.entries.end(),
                  [](const EntryResult& entry) { return entry.predicted_ns.has_value(); });
  Table::Row heading = {result.name, "per call", "spread"};
  if (predicted) heading.push_back("predicted");
  Table table(heading, engine_look);
  for (const EntryResult& entry : result.entries) {
    const std::string how = entry.how.empty() ? "" : fmt::format(" ({})", entry.how);
    Table::Row row = {entry.name + how, time_text(median_ns(entry)),
                      percent(calibrate::summarize(entry.ns).spread)};
    if (predicted) row.push_back(prediction_text(entry));
    table.add(std::move(row));
  }
  return fmt::format("\n{}{}", table.text(columns), wrap("", circumstances(result), 0, columns));
}

class EngineBench {
 public:
  explicit EngineBench(const EngineBenchOptions& options) : options_(options) {}
  ExitCode run(const Context& context);

 private:
  std::vector<bench::Comparison> comparisons(const machine::Discovery& discovery,
                                             EngineBenchReport& report) const;
  void run_all(const Context& context, const std::vector<bench::Comparison>& comparisons,
               const Interrupt& interrupt, EngineBenchReport& report) const;
  void print(const Console& console, const EngineBenchReport& report) const;

  const EngineBenchOptions& options_;
};

std::vector<bench::Comparison> EngineBench::comparisons(const machine::Discovery& discovery,
                                                        EngineBenchReport& report) const {
  const bench::Scale scale{options_.quick};
  const std::vector<int> pus = calibrate::measured_pus(discovery.topology, discovery.allowed);
  if (pus.size() < 2) {
    report.notes.emplace_back("this process may use only one core: no requirement can be checked");
  }
  std::vector<bench::Comparison> all = bench::engine_comparisons(pus, scale);
  if (!options_.variants) return all;
  const bench::Binding binding{
      options_.ranks > 0 ? options_.ranks : std::max(2, static_cast<int>(pus.size())), pus};
  all.push_back(bench::barrier_variants(report.machine, binding, scale));
  for (const auto variants :
       {bench::bcast_variants, bench::allreduce_variants, bench::alltoall_variants}) {
    for (auto& one : variants(report.machine, binding, scale)) all.push_back(std::move(one));
  }
  return all;
}

void EngineBench::run_all(const Context& context, const std::vector<bench::Comparison>& comparisons,
                          const Interrupt& interrupt, EngineBenchReport& report) const {
  ComparisonProgress watcher(context.console, comparisons.size());
  const bench::RunOptions run_options{report.machine, report.rounds};
  for (const bench::Comparison& one : comparisons) {
    if (interrupt.requested()) break;
    watcher.begin(one.name);
    report.results.push_back(
        bench::run_comparison(one, run_options, watcher, interrupt.requested()));
    watcher.end();
  }
  watcher.finish();
  report.interrupted = interrupt.requested();
}

void EngineBench::print(const Console& console, const EngineBenchReport& report) const {
  if (!options_.json.empty()) put_json(console, bench_json(report), options_.json);
  if (options_.json != json_on_stdout) console.print(bench_text(report, console.columns));
}

ExitCode EngineBench::run(const Context& context) {
  const Console& console = context.console;
  const machine::Discovery discovery = machine::discover_this_machine();
  const Interrupt interrupt;
  machine::LoadedMachine loaded = engine_machine(context, options_, discovery, interrupt);
  EngineBenchReport report{.machine = std::move(loaded.machine),
                           .machine_file = loaded.path,
                           .quick = options_.quick,
                           .rounds = engine_rounds(options_),
                           .notes = {},
                           .results = {}};
  const auto all = comparisons(discovery, report);
  for (const std::string& note : report.notes) console.note("note: " + note);
  run_all(context, all, interrupt, report);
  print(console, report);
  if (report.interrupted) {
    console.note(fmt::format("huddle: {}; results up to this point are shown above",
                             interrupt.signal_name()));
    interrupt.die();
  }
  return report.all_hold() ? ExitCode::fine : ExitCode::failure;
}

constexpr int most_engine_rounds = 1000;

class BenchEngineCommand : public Command {
 public:
  std::string name() const override { return "engine"; }
  std::string summary() const override {
    return "compare huddle's collectives with hand-written code, without an MPI";
  }
  std::string description() const override {
    return "Compares huddle's collectives inside a node with the best code that can be written by "
           "hand for one special case, alternately in the same run and without an MPI; results are "
           "checked. Each requirement is a limit for the ratio of both. --variants compares the "
           "algorithms of the papers. --table shows the predicted and measured time of every "
           "algorithm of every operation.";
  }
  std::string examples() const override {
    return "  huddle bench engine             all requirements (a minute on 2 cores)\n"
           "  huddle bench engine --quick     a rough result: 3 short rounds instead of 10\n"
           "  huddle bench engine --variants -n 16\n"
           "                                  also the papers' variants, with 16 ranks\n"
           "  huddle bench engine --table     all algorithms: requirements and times\n"
           "  huddle bench engine --table --dry-run -n 32 --machine node.toml\n"
           "                                  predicted times for another machine\n\n"
           "Exit status: 0 success, 1 a requirement is not met.";
  }
  void declare(Options& options) override {
    options.flag("--quick", given_.quick, "few and short rounds");
    options.number("--rounds", given_.rounds, 1, most_engine_rounds, "N",
                   "number of rounds (default: 10, or 3 with --quick)");
    options.flag("--variants", given_.variants, "also measure the papers' variants");
    options.flag("--table", given_.table,
                 "show what every algorithm of every operation requires, and its predicted and "
                 "measured times by size");
    options.number("-n,--ranks", given_.ranks, 2, most_bench_ranks, "N",
                   "number of ranks (default: 2 with --table, one per core with --variants)");
    options.flag("--markdown", given_.markdown, "with --table: print Markdown");
    options.flag("--dry-run", given_.dry_run,
                 "with --table: print predicted times only, measure nothing");
    options.flag("--simulate", given_.simulate, "with --table: also print simulated times");
    options.optional_text("--json", given_.json, json_on_stdout, "FILE",
                          "write all figures as JSON, to FILE or instead of the tables");
    options.flag("--no-calibrate", given_.as_is,
                 "use the machine file as it is, instead of measuring this machine first");
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
          "--ranks applies to the variants and the table only: add --variants or --table");
    }
    if (!given_.table && (given_.markdown || given_.dry_run || given_.simulate)) {
      throw UsageError("--markdown, --dry-run and --simulate require --table");
    }
    if (given_.markdown && given_.json == json_on_stdout) {
      throw UsageError(
          "--json and --markdown cannot both write to standard output; name a file: --json FILE");
    }
  }

  EngineBenchOptions given_;
};

}  // namespace

std::string machine_text(const machine::Machine& machine, const std::string& machine_file) {
  if (!calibrated(machine)) {
    return machine.name +
           ", not calibrated: algorithms are selected by generic figures (run 'huddle calibrate')";
  }
  return fmt::format("{}, {}", machine.name,
                     machine_file == measured_now ? measured_now : "calibrated");
}

PredictionError EngineBenchReport::prediction_error() const {
  std::vector<double> all;
  for (const Result& result : results) {
    for (const EntryResult& entry : result.entries) {
      if (entry.predicted_ns && !entry.ns.empty()) {
        all.push_back(times_off(*entry.predicted_ns, median_ns(entry)));
      }
    }
  }
  return cli::prediction_error(std::move(all));
}

std::string bench_text(const EngineBenchReport& report, int columns) {
  std::string all = wrap("", machine_text(report.machine, report.machine_file), 0, columns);
  all += verdict_table(report, columns);
  for (const Result& result : report.results) all += entry_table(result, columns);
  const std::string error = prediction_error_text(report.prediction_error());
  return error.empty() ? all : all + "\n" + wrap("", error, 2, columns);
}

ExitCode bench_engine(const Context& context, const EngineBenchOptions& options) {
  return EngineBench(options).run(context);
}

std::unique_ptr<Command> make_bench_engine_command() {
  return std::make_unique<BenchEngineCommand>();
}

}  // namespace huddle::cli
