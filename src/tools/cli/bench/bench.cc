// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench: compares an MPI's own collectives with huddle's.

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "common/arithmetic.h"
#include "common/file.h"
#include "common/text.h"
#include "runtime/select/operation.h"
#include "tools/bench/mpi/order.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/cli/bench/bench_options.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/progress.h"
#include "tools/cli/selected_machine.h"

namespace huddle::cli {

double times_off(double predicted_ns, double measured_ns) {
  return std::max(predicted_ns / measured_ns, measured_ns / predicted_ns);
}

bool is_mispredicted(double predicted_ns, double measured_ns) {
  return times_off(predicted_ns, measured_ns) > mispredicted_from;
}

PredictionError prediction_error(std::vector<double> times_off) {
  std::erase_if(times_off, [](double one) { return !std::isfinite(one); });
  if (times_off.empty()) return {};
  const auto mispredicted = std::count_if(times_off.begin(), times_off.end(),
                                          [](double one) { return one > mispredicted_from; });
  return {.points = times_off.size(),
          .median_times_off = median_of(times_off),
          .mispredicted = static_cast<std::size_t>(mispredicted)};
}

std::string prediction_error_text(const PredictionError& error) {
  if (error.points == 0) return "";
  const std::string text =
      fmt::format("predicted and measured times differ by a factor of {:.2f} in the median of {}",
                  error.median_times_off, counted(static_cast<long long>(error.points), "point"));
  if (error.mispredicted == 0) {
    return fmt::format("{}, and by at most {} everywhere", text, mispredicted_from);
  }
  return fmt::format("{}; {} marked {} differ by more than {}", text,
                     counted(static_cast<long long>(error.mispredicted), "point"),
                     misprediction_mark, mispredicted_from);
}

namespace {

constexpr int usual_rounds = 10;
constexpr int quick_rounds = 3;

// Throws UsageError for the file of another machine, which would lead to other choices.
machine::LoadedMachine file_of_here(const Context& context, const machine::Topology& here) {
  SelectedMachine machine = machine_in_question(context, here);
  if (machine.is_here()) return std::move(machine.loaded);
  throw UsageError(machine.difference() + "; only this machine can be measured");
}

}  // namespace

// Measures the machine because choices and floors must match the present: a virtual machine may
// differ from the one whose file was written earlier. A file that the user names is used as it is.
machine::LoadedMachine engine_machine(const Context& context, const EngineBenchOptions& options,
                                      const machine::Discovery& discovery,
                                      const Interrupt& interrupt) {
  const bool is_named = !settings::find(context.settings, "machine").value.empty();
  if (options.as_is || is_named) return file_of_here(context, discovery.topology);
  const calibrate::Plan plan = calibrate::make_plan(
      discovery.topology, {discovery.allowed, true, calibrate::usable_memory_bytes()});
  MeasureProgress watcher(context.console, plan, "measuring this machine: ");
  calibrate::Outcome outcome =
      calibrate::calibrate(discovery.topology, plan, watcher, interrupt.requested());
  watcher.finish();
  if (!outcome.stopped) {
    warn_of_doubts(context.console, outcome.machine);
    return {std::move(outcome.machine), measured_now};
  }
  context.console.note(
      fmt::format("huddle: {} before the first measurement", interrupt.signal_name()));
  interrupt.die();
}

int engine_rounds(const EngineBenchOptions& options) {
  if (options.rounds > 0) return options.rounds;
  return options.quick ? quick_rounds : usual_rounds;
}

namespace {

constexpr int most_seconds = 86400;
constexpr int most_tolerance_percent = 1000;
constexpr const char* one_call = "1";  // the default of --cold

class BenchCommand : public Command {
 public:
  BenchCommand() {
    add_subcommand(make_bench_engine_command());
    add_subcommand(make_bench_compare_command());
  }
  std::string name() const override { return "bench"; }
  std::string summary() const override { return "compare huddle with your MPI"; }
  std::string description() const override {
    return "Times the collectives of an MPI and of huddle alternately, in the same processes and "
           "with the same buffers. Data change from call to call, and results are checked. A time "
           "is measured from when the last rank enters a call until the last rank leaves it. The "
           "ratio is the time of the MPI divided by the time of huddle, with a 95 % confidence "
           "interval. Points whose interval is still wide at the end of their time are marked.";
  }
  std::string examples() const override {
    return "  huddle bench                    with the MPI of the mpirun in PATH, 2 ranks\n"
           "  huddle bench --quick            a rough result in less than a minute\n"
           "  huddle bench -n 16 --ops bcast,allreduce --sizes 8:4M\n"
           "  huddle bench --mpi /opt/mpi/bin/mpiexec --json bench.json\n"
           "  huddle bench --peers DIR        with the best of several MPIs, which\n"
           "                                  bench/peers DIR has installed\n"
           "  huddle bench --loop osu         measure like the OSU micro-benchmarks\n"
           "  huddle bench --cold 10          the first 10 calls of a new program\n"
           "  huddle bench --guidelines -n 8  performance guidelines that the MPI and\n"
           "                                  huddle violate\n"
           "  huddle bench --guidelines --dry-run\n"
           "                                  list the guidelines\n"
           "  huddle bench --json now.json && huddle report now.json\n"
           "                                  write all samples, and draw a report\n\n"
           "Exit status: 0 success; 1 with --peers or --cold, if at some point the interval of "
           "huddle is below 0.9 of the speed of the best MPI in six consecutive attempts, or with "
           "--guidelines, if huddle violates a guideline. Violations by the MPI do not matter.";
  }
  void declare(Options& options) override {
    options.text("--ops", given_.ops, "OP,...", "the collectives to measure (default: all)");
    options.complete("--ops", Value::list,
                     {select::operation_names.begin(), select::operation_names.end()});
    options.text("--sizes", given_.sizes, "FROM:TO",
                 "message sizes: a range in steps of a factor of 4, or a list such as 8,64K "
                 "(default: 8:4M)");
    options.number("-n,--ranks", given_.ranks, 2, most_bench_ranks, "N",
                   "number of ranks (default: 2)");
    options.text(
        "--loop", given_.loop, "WORD",
        "how calls are timed; apart: a barrier before each call, new data, changing roots; osu: "
        "consecutive calls, one root, the same data, the mean of all ranks (default: apart)");
    options.complete("--loop", Value::word,
                     {bench::timing_names.begin(), bench::timing_names.begin() + bench::loops});
    options.optional_text("--cold", given_.cold, one_call, "N",
                          "measure the first N calls (default: 1) of new processes, on a new "
                          "communicator and with new arrays, alternately with and without huddle");
    options.flag("--quick", given_.quick, "few sizes and wider intervals");
    options.number("--seconds", given_.seconds, 1, most_seconds, "N",
                   "maximum time for all points together");
    options.optional_text("--json", given_.json, json_on_stdout, "FILE",
                          "write all samples as JSON, to FILE or instead of the tables");
    options.text("--mpi", given_.mpi, "LAUNCHER", "the launcher of the MPI to measure");
    options.text("--mpi-library", given_.mpi_library, "FILE",
                 "the library of the MPI, if the launcher does not identify it");
    options.text("--peers", given_.peers, "DIR",
                 "compare with the best of the MPIs that bench/peers has installed in DIR");
    options.text("--under", given_.under, "NAME", "with --peers: the MPI under which huddle runs");
    options.flag("--guidelines", given_.guidelines,
                 "measure performance guidelines: whether a collective takes longer than a mock-up "
                 "by other collectives with the same result, and whether times grow as they should "
                 "with size; for the MPI and huddle in random turns");
    options.number("--tolerance", given_.tolerance, 0, most_tolerance_percent, "PERCENT",
                   "with --guidelines: how much longer a call may take (default: 5)");
    options.flag("--dry-run", given_.dry_run,
                 "with --guidelines: list the guidelines, measure nothing");
    options.setting("heap");
    options.setting("machine");
    options.need("--tolerance", "--guidelines");
    options.need("--dry-run", "--guidelines");
    options.exclude("--guidelines", "--cold");
    options.exclude("--guidelines", "--peers");
    options.exclude("--cold", "--loop");
    options.exclude("--cold", "--peers");
    options.exclude("--peers", "--mpi");
    options.exclude("--peers", "--mpi-library");
  }
  ExitCode run(const Context& context) override {
    if (!given_.under.empty() && given_.peers.empty()) {
      throw UsageError("--under selects one of the MPIs of --peers: add --peers DIR");
    }
    return given_.guidelines ? bench_guidelines(context, given_) : bench_mpi(context, given_);
  }

 private:
  MpiBenchOptions given_;
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
