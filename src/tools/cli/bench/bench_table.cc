// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench engine --table: prints the needs of every algorithm of every operation and its
// predicted and measured times by size.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "common/arithmetic.h"
#include "common/text.h"
#include "huddle/huddle.h"
#include "model/machine/topology.h"
#include "tools/bench/engine/algorithm_table.h"
#include "tools/bench/engine/run_comparison.h"
#include "tools/bench/engine/team_calls.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/statistics.h"
#include "tools/cli/bench/bench_json.h"
#include "tools/cli/bench/bench_options.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/document_json.h"
#include "tools/cli/node_choice.h"
#include "tools/cli/progress.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

std::string figures_named(const BenchTableReport& report) {
  return fmt::format("predicted{}{}", report.simulated ? "/simulated" : "",
                     report.dry_run ? "" : "/measured");
}

std::string simulation_text(const BenchTableReport& report) {
  const PredictionError error = report.simulation_error();
  if (error.points == 0) return "";
  return fmt::format(
      "; simulated and measured times differ by a factor of {:.2f} in the median of {}",
      error.median_times_off, counted(static_cast<long long>(error.points), "point"));
}

std::string choices_text(const BenchTableReport::Choices& choices) {
  if (choices.points == 0) return "";
  return fmt::format(
      "; at {} of {}, the selected algorithm is at most 10 % slower than the fastest",
      choices.near_best, counted(static_cast<long long>(choices.points), "size"));
}

// Returns microseconds with three significant digits and at most three decimals.
std::string microseconds_text(double ns) {
  const double us = ns / 1000;
  const int decimals = us < 1 ? 3 : us < 10 ? 2 : us < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", us, decimals);
}

// Compares the value that `of_cell` returns with the measurement.
template <class OfCell>
PredictionError error_of(const std::vector<bench::OperationTable>& tables, const OfCell& of_cell) {
  std::vector<double> all;
  for (const bench::OperationTable& table : tables) {
    for (const bench::AlgorithmRow& row : table.rows) {
      for (const auto& cell : row.cells) {
        if (!cell || cell->ns.empty()) continue;
        const std::optional<double> ns = of_cell(*cell);
        if (ns) all.push_back(times_off(*ns, median_of(cell->ns)));
      }
    }
  }
  return cli::prediction_error(std::move(all));
}

std::vector<bench::OperationTable> tables_of(const bench::Forecast& forecast,
                                             const BenchTableReport& report) {
  std::vector<bench::OperationTable> tables = bench::algorithm_table(forecast);
  if (!report.simulated) return tables;
  check_simulated(forecast.locality.pus);
  bench::simulate(tables, forecast);
  return tables;
}

// The columns of all tables are aligned; "dissemination" is the longest name.
constexpr TableLook algorithm_look = {.indent = 2, .name_columns = 15};
constexpr int indent = 2;

std::string size_heading(std::size_t bytes) {
  return bytes == 0 ? "-" : size_text(static_cast<double>(bytes));
}

std::string cell_text(const std::optional<bench::Cell>& cell) {
  if (!cell) return "-";
  return (cell->chosen ? "*" : "") + figures_text(*cell);
}

std::string table_text(const bench::OperationTable& one, int columns) {
  Table::Row heading = {""};
  for (const std::size_t bytes : one.bytes) heading.push_back(size_heading(bytes));
  Table table(heading, algorithm_look);
  for (const bench::AlgorithmRow& row : one.rows) {
    Table::Row cells = {std::string(row.algorithm)};
    for (const auto& cell : row.cells) cells.push_back(cell_text(cell));
    table.add(std::move(cells));
  }
  std::string all = "\n" + wrap("", operation_text(one), indent, columns) + table.text(columns);
  const auto add = [&](const std::string& words) {
    all += wrap(spaces(indent), words, 2 * indent, columns);
  };
  for (const bench::AlgorithmRow& row : one.rows) {
    add(std::string(row.algorithm) + " requires: " + needs_text(row));
  }
  return all;
}

using MarkdownCells = std::vector<std::string>;

std::string markdown_line(const MarkdownCells& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown_cell(const std::optional<bench::Cell>& cell) {
  if (!cell) return "-";
  const std::string figures = figures_text(*cell);
  return cell->chosen ? "**" + figures + "**" : figures;
}

constexpr int usual_engine_ranks = 2;

int ranks_of(const EngineBenchOptions& options) {
  return options.ranks > 0 ? options.ranks : usual_engine_ranks;
}

void print(const Console& console, const EngineBenchOptions& options,
           const BenchTableReport& report) {
  for (const std::string& note : report.notes) console.note("note: " + note);
  if (!options.json.empty()) put_json(console, bench_table_json(report), options.json);
  if (options.json == json_on_stdout) return;
  console.print(options.markdown ? bench_table_markdown(report)
                                 : bench_table_text(report, console.columns));
}

BenchTableReport report_of(machine::LoadedMachine loaded, bench::Binding binding,
                           const EngineBenchOptions& options) {
  return {.machine = std::move(loaded.machine),
          .machine_file = loaded.path,
          .binding = std::move(binding),
          .dry_run = options.dry_run,
          .simulated = options.simulate,
          .quick = options.quick,
          .rounds = options.dry_run ? 0 : engine_rounds(options),
          .notes = {},
          .tables = {}};
}

// Starts no ranks, so it also works for other machines.
ExitCode predict(const Context& context, const EngineBenchOptions& options) {
  SelectedMachine machine = machine_in_question(context, machine::discover_this_machine().topology);
  const bench::Binding binding{ranks_of(options),
                               first_pu_of_cores(machine.loaded.machine.topology)};
  BenchTableReport report = report_of(std::move(machine.loaded), binding, options);
  constexpr bool may_read = true;
  report.tables = tables_of(bench::Forecast(report.machine, report.binding, may_read), report);
  print(context.console, options, report);
  return ExitCode::fine;
}

// Returns whether the buffers of all ranks take at most half of the available memory.
bool fits(const bench::Comparison& comparison) {
  constexpr std::size_t buffers = 2;
  const std::size_t bytes =
      buffers * comparison.bytes * static_cast<std::size_t>(comparison.binding.ranks);
  return bytes <= calibrate::usable_memory_bytes() / 2;
}

void measure(const Context& context, const Interrupt& interrupt, BenchTableReport& report) {
  std::size_t comparisons = 0;
  for (const auto& table : report.tables) comparisons += table.bytes.size();
  ComparisonProgress watcher(context.console, comparisons);
  const bench::RunOptions run_options{report.machine, report.rounds};
  for (bench::OperationTable& table : report.tables) {
    for (std::size_t i = 0; i < table.bytes.size() && !interrupt.requested(); ++i) {
      const auto one = bench::comparison_at(table, i, report.binding, {report.quick});
      watcher.begin(one.name);
      if (fits(one)) {
        bench::enter(bench::run_comparison(one, run_options, watcher, interrupt.requested()), table,
                     i);
      } else {
        report.notes.push_back(fmt::format("{} was not measured: too little memory", one.name));
      }
      watcher.end();
    }
  }
  watcher.finish();
  report.interrupted = interrupt.requested();
}

}  // namespace

std::string bench_table_ground(const BenchTableReport& report, std::string_view mark_of_choice) {
  const bench::Binding& binding = report.binding;
  const std::string error = prediction_error_text(report.prediction_error());
  return fmt::format(
             "{}; {}; {} times in microseconds; {} marks the algorithm that huddle selects{}{}",
             machine_text(report.machine, report.machine_file),
             report.dry_run ? counted(binding.ranks, "rank") : text(binding), figures_named(report),
             mark_of_choice, error.empty() ? "" : "; ", error) +
         simulation_text(report) + choices_text(report.choices());
}

PredictionError BenchTableReport::prediction_error() const {
  return error_of(tables, [](const bench::Cell& cell) { return std::optional(cell.best.ns); });
}

PredictionError BenchTableReport::simulation_error() const {
  return error_of(tables, [](const bench::Cell& cell) { return cell.simulated_ns; });
}

BenchTableReport::Choices BenchTableReport::choices() const {
  constexpr double near = 1.1;
  Choices choices;
  for (const bench::OperationTable& table : tables) {
    for (std::size_t i = 0; i < table.bytes.size(); ++i) {
      std::optional<double> chosen_ns;
      double best_ns = std::numeric_limits<double>::infinity();
      for (const bench::AlgorithmRow& row : table.rows) {
        if (!row.cells[i] || row.cells[i]->ns.empty()) continue;
        const double ns = median_of(row.cells[i]->ns);
        if (row.cells[i]->chosen) chosen_ns = ns;
        best_ns = std::min(best_ns, ns);
      }
      if (!chosen_ns) continue;
      ++choices.points;
      if (*chosen_ns <= near * best_ns) ++choices.near_best;
    }
  }
  return choices;
}

std::string figures_text(const bench::Cell& cell) {
  std::string figures = microseconds_text(cell.best.ns);
  if (cell.simulated_ns) figures += "/" + microseconds_text(*cell.simulated_ns);
  if (cell.ns.empty()) return figures;
  const double measured_ns = median_of(cell.ns);
  const bool is_far = is_mispredicted(cell.best.ns, measured_ns);
  return fmt::format("{}/{}{}", figures, microseconds_text(measured_ns),
                     is_far ? misprediction_mark : "");
}

std::string needs_text(const bench::AlgorithmRow& row) {
  return row.needs.empty() ? "nothing" : row.needs;
}

std::string operation_text(const bench::OperationTable& table) {
  std::vector<std::string_view> relatives;
  for (const bench::Relative& one : table.relatives) relatives.push_back(name(one.operation));
  if (relatives.empty()) return std::string(name(table.operation));
  return fmt::format("{} (and {})", name(table.operation), fmt::join(relatives, ", "));
}

std::string bench_table_text(const BenchTableReport& report, int columns) {
  columns = std::min(columns, most_table_columns);
  std::string all = wrap("", bench_table_ground(report, "*"), 0, columns);
  for (const auto& table : report.tables) all += table_text(table, columns);
  return all;
}

std::string bench_table_markdown(const BenchTableReport& report) {
  MarkdownCells heading = {"operation", "algorithm", "requires"};
  for (const std::size_t bytes : bench::table_sizes()) {
    heading.push_back(size_text(static_cast<double>(bytes)));
  }
  std::string all = fmt::format(
      "{}. A barrier moves no data: its times are in the first column.\n\n"
      "{}{}",
      bench_table_ground(report, "**bold**"), markdown_line(heading),
      markdown_line(MarkdownCells(heading.size(), "---")));
  for (const bench::OperationTable& table : report.tables) {
    std::string operation = operation_text(table);
    for (const bench::AlgorithmRow& row : table.rows) {
      MarkdownCells cells = {std::exchange(operation, ""), std::string(row.algorithm),
                             needs_text(row)};
      for (const auto& cell : row.cells) cells.push_back(markdown_cell(cell));
      cells.resize(heading.size());
      all += markdown_line(cells);
    }
  }
  return all;
}

ExitCode bench_table(const Context& context, const EngineBenchOptions& options) {
  if (options.dry_run) return predict(context, options);
  const machine::Discovery discovery = machine::discover_this_machine();
  const Interrupt interrupt;
  machine::LoadedMachine loaded = engine_machine(context, options, discovery, interrupt);
  const bench::Binding binding{ranks_of(options),
                               calibrate::measured_pus(discovery.topology, discovery.allowed)};
  BenchTableReport report = report_of(std::move(loaded), binding, options);
  report.tables = tables_of(bench::Forecast(report.machine, report.binding), report);
  measure(context, interrupt, report);
  print(context.console, options, report);
  if (report.interrupted) {
    context.console.note(fmt::format("huddle: {}; results up to this point are shown above",
                                     interrupt.signal_name()));
    interrupt.die();
  }
  return ExitCode::fine;
}

}  // namespace huddle::cli
