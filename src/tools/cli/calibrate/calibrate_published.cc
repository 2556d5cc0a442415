// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle calibrate --from-latencies: makes a machine file from published core-to-core latencies.

#include <fmt/format.h>
#include <filesystem>
#include <optional>

#include "common/error.h"
#include "common/file.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "tools/calibrate/latency_matrix.h"
#include "tools/calibrate/published_machine.h"
#include "tools/cli/calibrate/calibrate_report.h"

namespace huddle::cli {
namespace {

constexpr int most_sockets = 64;

calibrate::PublishedLine line_from(const std::string& word) {
  if (word.empty() || word == "shared") return calibrate::PublishedLine::shared;
  if (word == "separate") return calibrate::PublishedLine::separate;
  throw UsageError(fmt::format(
      "--latencies-of {}: write shared if both sides of the ping-pong write the same cache line, "
      "or separate if each writes its own",
      word));
}

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

void PublishedOptions::declare(Options& options) {
  options.text("--from-latencies", file, "FILE",
               "measure nothing, and make a machine file from published core-to-core latencies: "
               "comma-separated values in ns, one row and field per hardware thread, at least "
               "below the diagonal");
  options.text("--like", like, "NAME|FILE",
               "with --from-latencies: the machine whose other figures are used as estimates "
               "(default: those of the processor's family)");
  options.complete("--like", Value::machine);
  options.text("--latencies-of", line, "LINE",
               "with --from-latencies: what both sides of the measurement write, a shared cache "
               "line or separate ones (default: shared)");
  options.complete("--latencies-of", Value::word, {"shared", "separate"});
  options.text("--cpu-model", cpu_model, "TEXT",
               "with --from-latencies: the processor's model, such as 'AMD EPYC 7R13', which "
               "gives the cache sizes");
  options.number("--sockets", sockets, 1, most_sockets, "N",
                 "with --from-latencies: the number of sockets, if it is inferred incorrectly");
  options.flag("--levels-only", only_levels,
               "with --from-latencies: write the latency of each level, but not of each pair");
  for (const char* const of_published :
       {"--like", "--latencies-of", "--cpu-model", "--sockets", "--levels-only"}) {
    options.need(of_published, "--from-latencies");
  }
  for (const char* const of_measuring :
       {"--quick", "--network", "--json", "--dry-run", "--force", "--strict"}) {
    options.exclude("--from-latencies", of_measuring);
  }
}

std::string published_machine_text(const Context& context, const PublishedOptions& options,
                                   const std::string& output) {
  calibrate::PublishedFacts facts;
  facts.name = stem_of(output.empty() || output == "-" ? options.file : output);
  facts.source = std::filesystem::path(options.file).filename().string();
  facts.line = line_from(options.line);
  facts.cpu_model = options.cpu_model;
  facts.sockets = options.sockets;
  facts.only_levels = options.only_levels;
  std::optional<machine::Machine> like;
  if (!options.like.empty()) {
    like = machine::read_machine_file(machine::machine_file_named(options.like));
    facts.like = &*like;
  }
  const calibrate::LatencyMatrix matrix =
      calibrate::parse_latencies(read_text(options.file), options.file);
  const calibrate::PublishedMachine published = calibrate::published_machine(matrix, facts);
  for (const std::string& note : published.notes) context.console.note("note: " + note);
  return format_machine(published.machine);
}

}  // namespace huddle::cli
