// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check/checker/checked_execution.h"
#include "check/checker/chooser.h"
#include "common/error.h"

namespace huddle::check::checker {
namespace {

// Repeats recorded choices. "3:1 17:2" means alternative 1 at choice 3, alternative 2 at choice 17,
// and the first one elsewhere.
class Repetition : public Chooser {
 public:
  explicit Repetition(std::string_view choices) {
    while (!choices.empty()) {
      const std::size_t at = take_number(choices, ':');
      exceptions_.emplace_back(at, take_number(choices, ' '));
    }
  }

  std::size_t choose(std::span<const Alternative> alternatives, const State&) override {
    const std::size_t now = count_++;
    if (next_ == exceptions_.size() || exceptions_[next_].first != now) return 0;
    const std::size_t chosen = exceptions_[next_++].second;
    if (chosen >= alternatives.size()) throw_wrong();
    return chosen;
  }

 private:
  [[noreturn]] static void throw_wrong() {
    throw InputError("these choices were not made in this job; give them as the failure told them");
  }
  static std::size_t take_number(std::string_view& text, char end) {
    std::size_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto used = static_cast<std::size_t>(rest - text.data());
    if (error != std::errc{} || used == text.size() || *rest != end) throw_wrong();
    text.remove_prefix(used + 1);
    return number;
  }

  std::vector<std::pair<std::size_t, std::size_t>> exceptions_;
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

// Runs an execution with the given choices and a trace.
std::optional<Failure> repeated(Execution& execution, std::string_view choices) {
  std::optional<Failure> failure;
  do {
    Repetition same(choices);
    failure = execution.run(same, true);
  } while (execution.take_news());
  return failure;
}

// Repeats a failed execution with a trace.
std::optional<Failure> told(Execution& execution, const std::optional<Failure>& failure) {
  if (!failure) return std::nullopt;
  return repeated(execution, failure->choices);
}

// Searches within one budget and fills in `result`. Returns whether to continue with a larger
// budget.
bool explore_within(int budget, Execution& execution, const Options& options, Result& result) {
  auto search = std::make_unique<Search>(budget);
  for (bool more = true; more;) {
    if (result.executions == options.max_executions) return false;
    const auto failure = execution.run(*search, false);
    ++result.executions;
    result.states = search->states();
    result.failure = told(execution, failure);
    if (result.failure) return false;
    if (execution.take_news()) {
      // Different states may have been considered equal, so the search starts again.
      search = std::make_unique<Search>(budget);
    } else {
      more = search->next();
    }
  }
  result.exhausted = true;
  return search->ran_short();
}

std::string counted(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

}  // namespace

Result explore(const Job& job, const Options& options) {
  Execution execution(job, options);
  Result result;
  for (int budget = 0; budget <= options.budget; ++budget) {
    result.exhausted = false;
    if (!explore_within(budget, execution, options, result)) break;
  }
  return result;
}

Result sample(const Job& job, std::uint64_t seed, std::size_t runs, const Options& options) {
  Execution execution(job, options);
  Result result;
  for (std::size_t i = 0; i < runs && result.passed(); ++i) {
    do {
      RandomWalk walk(job.ranks, seed + i);
      result.failure = told(execution, execution.run(walk, false));
      ++result.executions;
    } while (result.passed() && execution.take_news());
  }
  return result;
}

Result replay(const Job& job, std::string_view choices, const Options& options) {
  Execution execution(job, options);
  Result result;
  result.failure = repeated(execution, choices);
  result.executions = 1;
  return result;
}

std::string text_of(const Result& result) {
  std::string text = fmt::format("{} executions", counted(result.executions));
  if (result.states > 0) {
    text = fmt::format("{} states, {}, {}", counted(result.states), text,
                       result.exhausted ? "exhausted" : "not exhausted");
  }
  if (!result.failure) return text;
  return fmt::format("{}\n{}\n{}  replay: \"{}\"\n", text, result.failure->what,
                     result.failure->trace, result.failure->choices);
}

}  // namespace huddle::check::checker
