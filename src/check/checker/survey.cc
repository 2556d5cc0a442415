// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "check/checker/checked_execution.h"
#include "check/checker/checker.h"
#include "check/checker/chooser.h"
#include "check/checker/job.h"
#include "check/checker/site.h"

namespace huddle::check::checker {

std::string text_of(const Mutation& mutation) {
  return fmt::format("{}: {}", name(mutation.fault), text_of(mutation.site));
}

namespace {

// Number of random executions that search for call sites. Some calls are made in some orders only.
constexpr std::size_t orders_to_look_at = 200;

void add_new(std::vector<Mutation>& all, const std::vector<Mutation>& more) {
  for (const Mutation& mutation : more) {
    if (std::find(all.begin(), all.end(), mutation) == all.end()) all.push_back(mutation);
  }
}

bool is_caught(const Job& job, Options options, const Mutation& mutation,
               const SurveyOptions& how) {
  options.mutation = mutation;
  // Most mutations are caught by a few random executions; the others need the full search.
  constexpr std::size_t first_samples = 20;
  return !sample(job, how.seed, first_samples, options).passed() ||
         !explore(job, options).passed() || !sample(job, how.seed, how.samples, options).passed();
}

// Returns the text of the source line. The path in a source location is relative if the compiler
// was called with a relative path, as compiler caches do.
std::string source_line(const Site& site) {
  const std::filesystem::path path = std::filesystem::path(HUDDLE_COMPILED_IN) / site.file;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("an excuse names a line of " + path.string() + ": not there");
  std::string line;
  for (unsigned i = 0; i < site.line; ++i) std::getline(file, line);
  return line;
}

bool covers(const Excuse& excuse, const Mutation& mutation) {
  return excuse.fault == mutation.fault &&
         source_line(mutation.site).find(excuse.line_part) != std::string::npos;
}

}  // namespace

std::vector<Mutation> mutations_of(const Job& job) {
  const Options options;
  Execution execution(job, options);
  for (std::size_t i = 0; i < orders_to_look_at; ++i) {
    RandomWalk walk(job.ranks, i);
    execution.run(walk, false);
  }
  std::vector<SiteFaults> sites = execution.sites();
  std::sort(sites.begin(), sites.end(), [](const SiteFaults& a, const SiteFaults& b) {
    return std::tie(a.site.file, a.site.line, a.site.column) <
           std::tie(b.site.file, b.site.line, b.site.column);
  });
  std::vector<Mutation> mutations;
  for (const SiteFaults& at : sites) {
    for (std::size_t i = 0; i < fault_names.size(); ++i) {
      const auto fault = static_cast<Fault>(i);
      if (at.faults.has(fault)) mutations.push_back({at.site, fault});
    }
  }
  return mutations;
}

Survey survey(std::span<const Job> jobs, const SurveyOptions& options) {
  std::vector<Mutation> all;
  std::vector<std::vector<Mutation>> of_job;
  for (const Job& job : jobs) {
    of_job.push_back(mutations_of(job));
    std::erase_if(of_job.back(), [&](const Mutation& mutation) {
      return mutation.site.file.find(options.in_files) == std::string_view::npos;
    });
    add_new(all, of_job.back());
  }
  Survey result;
  std::vector<bool> needed(options.excuses.size(), false);
  for (const Mutation& mutation : all) {
    bool caught = false;
    for (std::size_t i = 0; i < jobs.size() && !caught; ++i) {
      const auto& own = of_job[i];
      if (std::find(own.begin(), own.end(), mutation) == own.end()) continue;
      caught = is_caught(jobs[i], options.options, mutation, options);
    }
    bool excused = false;
    for (std::size_t i = 0; i < options.excuses.size() && !caught; ++i) {
      if (!covers(options.excuses[i], mutation)) continue;
      excused = needed[i] = true;
    }
    (caught ? result.caught : excused ? result.excused : result.survived).push_back(mutation);
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) result.idle_excuses.push_back(options.excuses[i]);
  }
  return result;
}

std::string text_of(const Survey& survey) {
  std::string text = fmt::format("{} caught, {} excused, {} survived\n", survey.caught.size(),
                                 survey.excused.size(), survey.survived.size());
  for (const Mutation& mutation : survey.survived) {
    text += fmt::format("  survived: {}\n", text_of(mutation));
  }
  for (const Excuse& excuse : survey.idle_excuses) {
    text += fmt::format("  an excuse that nothing needs: {} of '{}'\n", name(excuse.fault),
                        excuse.line_part);
  }
  return text;
}

}  // namespace huddle::check::checker
