// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "common/settings/settings.h"
#include "common/text.h"
#include "tools/cli/profile/profile_kinds.h"
#include "tools/cli/terminal_text.h"
#include "tools/cli/thread_agent.h"
#include "tools/launch/preload.h"

namespace huddle::cli {
namespace {

using threads::Accuracy;
using threads::Pattern;

std::vector<Pattern> patterns_in_question(const std::string& named) {
  std::vector<Pattern> patterns;
  const std::vector<std::string> names(threads::known_patterns.begin(),
                                       threads::known_patterns.end());
  if (!named.empty() && !threads::pattern_named(named)) {
    throw UsageError(
        fmt::format("unknown pattern '{}'{}", printable(named), did_you_mean(named, names)));
  }
  for (const std::string& name : names) {
    if (named.empty() || named == name) patterns.push_back(*threads::pattern_named(name));
  }
  return patterns;
}

threads::WatchedProgram pattern_program() {
  std::error_code ignored;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const launch::Library library = launch::find_library(own.string());
  const std::filesystem::path program = std::filesystem::path(library.folder) / "huddle-pattern";
  if (!std::filesystem::exists(program, ignored)) {
    throw FailureError(fmt::format("{} is missing: reinstall huddle", program.string()));
  }
  return {program.string(), {}, settings::process_sources().environment, library.threads};
}

bool has_nothing_to_see(Pattern pattern) { return pattern == Pattern::none; }

std::string number(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string seen_text(const Accuracy& accuracy) {
  if (accuracy.pattern == Pattern::read_mostly && !accuracy.sees_reads) {
    return "none: reads are not observed";
  }
  if (accuracy.moved_after_s) return fmt::format("move after {:.1f} s", *accuracy.moved_after_s);
  return fmt::format("none: {}", name_of(accuracy.verdict));
}

double cost_share(const Accuracy& accuracy) {
  const threads::Spent& spent = accuracy.watched.spent;
  return spent.program_s > 0 ? spent.cost_s(accuracy.watched.fault_s) / spent.program_s : 0;
}

}  // namespace

std::string shortfall(const Accuracy& accuracy) {
  std::string unlike =
      accuracy.cosine.value_or(0) >= threads::good_cosine
          ? ""
          : fmt::format("the observed matrix resembles the known one by less than {}",
                        threads::good_cosine);
  switch (accuracy.pattern) {
    case Pattern::none:
    case Pattern::all_to_all:
      return accuracy.moved_after_s ? "threads would be moved without a reason" : "";
    case Pattern::read_mostly:  // without threads that make writes visible
      return accuracy.sees_reads ? unlike : "";
    case Pattern::pairs:
    case Pattern::ring:
    case Pattern::groups:
    case Pattern::chain:
    case Pattern::change:
    case Pattern::false_sharing:
      return unlike;
  }
  return "";
}

std::string accuracy_text(const std::vector<Accuracy>& all, const Console& console) {
  Table table({"pattern", "cosine", "rank correlation", "cosine 0.9 after", "cost", "decision"},
              {0, 0});
  for (const Accuracy& one : all) {
    const bool has_truth = !has_nothing_to_see(one.pattern);
    table.add({std::string(threads::known_patterns[static_cast<std::size_t>(one.pattern)]),
               has_truth ? number(one.cosine, 3) : "-", number(one.rank, 2),
               one.good_after_s ? fmt::format("{:.1f} s", *one.good_after_s) : "-",
               fmt::format("{:.1f} %", 100 * cost_share(one)), seen_text(one)});
  }
  std::string text = table.text(console.columns);
  for (const Accuracy& one : all) {
    const std::string name(threads::known_patterns[static_cast<std::size_t>(one.pattern)]);
    if (const std::string why = shortfall(one); !why.empty()) {
      text += wrap(name + ": ", why, 2, console.columns);
    }
  }
  for (const std::string& note : all.front().watched.notes) {
    text += wrap("note: ", note, 6, console.columns);
  }
  return text;
}

ExitCode profile_accuracy(const Context& context, const AccuracyQuestion& question) {
  const std::vector<Pattern> patterns = patterns_in_question(question.pattern);
  threads::WatchedProgram program = pattern_program();
  program.observer = question.observer;
  std::vector<Accuracy> all;
  for (const Pattern pattern : patterns) {
    // Separate for each program, because its page table changes and costs are reported per program.
    const std::unique_ptr<threads::NumaBalancing> balancing = balancing_if(question.allows_sysctl);
    all.push_back(measure_accuracy(pattern, question.seconds, program, balancing.get()));
  }
  context.console.print(question.json ? accuracy_json(all) : accuracy_text(all, context.console));
  const bool fine = std::all_of(all.begin(), all.end(),
                                [](const Accuracy& one) { return shortfall(one).empty(); });
  return fine ? ExitCode::fine : ExitCode::failure;
}

}  // namespace huddle::cli
