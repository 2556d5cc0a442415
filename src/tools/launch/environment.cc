// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/launch/environment.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

#include "tools/launch/launcher.h"
#include "tools/launch/preload.h"

namespace huddle::launch {
namespace {

// Compares with one of Slurm's keywords, which are not case sensitive.
bool is_word(std::string_view item, std::string_view word) {
  return std::equal(item.begin(), item.end(), word.begin(), word.end(), [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == b;
  });
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    items.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return items;
}

}  // namespace

std::string extended_export(std::string_view list, const std::vector<Variable>& variables,
                            const std::string& preload) {
  std::vector<std::string> items;
  std::set<std::string> let_through;
  bool all = false;
  for (std::string item : split(list)) {
    // "None" excludes all variables but Slurm's own; a list excludes those that it does not name.
    if (is_word(item, "NONE") || is_word(item, "NIL")) continue;
    all = all || is_word(item, "ALL");
    const std::string name = item.substr(0, item.find('='));
    if (name == preload_name && name != item && !preload.empty()) {
      item = fmt::format("{}={}", name, joined_preload(preload, item.substr(name.size() + 1)));
    }
    let_through.insert(name);
    items.push_back(item);
  }
  for (const Variable& variable : variables) {
    if (!all && !let_through.contains(variable.name)) items.push_back(variable.name);
  }
  return fmt::format("{}", fmt::join(items, ","));
}

namespace {

using Words = std::vector<std::string>;

std::string_view undashed(std::string_view option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

// A variable in a launcher's command line: NAME=VALUE in one word, or NAME and VALUE in two.
class WrittenVariable {
 public:
  WrittenVariable(Words& words, std::size_t at, std::size_t end) : words_(words), at_(at) {
    const std::size_t equals = words[at].find('=');
    in_one_ = equals != std::string::npos;
    name_ = words[at].substr(0, equals);
    in_two_ = !in_one_ && at + 1 < end;
  }
  const std::string& name() const { return name_; }

  void append_to_value(const std::string& preload) {
    if (in_one_) {
      const std::string theirs = words_[at_].substr(name_.size() + 1);
      words_[at_] = name_ + "=" + joined_preload(preload, theirs);
    } else if (in_two_) {
      words_[at_ + 1] = joined_preload(preload, words_[at_ + 1]);
    }
  }
  // Ignores a second word: "-x NAME" takes the value from the launcher's own environment, which
  // already contains huddle's files.
  void only_if_in_one() { in_two_ = false; }

 private:
  Words& words_;
  std::size_t at_;
  std::string name_;
  bool in_one_ = false;
  bool in_two_ = false;
};

// Variables that the user passes on in one context.
struct Users {
  std::set<std::string> for_all;  // by -x or -genv, for all programs
  std::set<std::string> for_one;  // by -env, for one program
  // Position after the option that excludes this program's variables; 0 if there is none. Intel's
  // launcher then also excludes the variables of -genv.
  std::size_t shut_out_at = 0;
};

// Appends huddle's files to every LD_PRELOAD that the user passes on in this context. Returns the
// variables that the user passes on.
Users extend_user_variables(Words& words, const AppContext& context, Passing passing,
                            const std::string& preload) {
  const bool hydra = passing == Passing::genv;
  Users users;
  for (std::size_t at = context.begin; at < context.program; ++at) {
    if (!words[at].starts_with('-')) continue;
    const std::string option(undashed(words[at]));
    const bool for_all = option == (hydra ? "genv" : "x");
    if ((for_all || (hydra && option == "env")) && at + 1 < context.program) {
      WrittenVariable variable(words, at + 1, context.program);
      if (!hydra) variable.only_if_in_one();
      if (variable.name() == preload_name && !preload.empty()) variable.append_to_value(preload);
      (for_all ? users.for_all : users.for_one).insert(variable.name());
    }
    const bool shuts_out = hydra && (option == "envnone" || option == "envlist");
    at += words_taken(passing, words[at]);
    if (shuts_out) users.shut_out_at = std::min(at + 1, context.program);
  }
  return users;
}

// Returns `option` for each variable except those that the user passes on.
Words options_for(const std::vector<Variable>& variables, const std::set<std::string>& users,
                  const std::string& option) {
  Words options;
  for (const Variable& variable : variables) {
    if (users.contains(variable.name)) continue;
    if (option == "-x") {
      options.insert(options.end(), {option, assignment(variable)});
    } else {
      options.insert(options.end(), {option, variable.name, variable.value});
    }
  }
  return options;
}

void insert(Words& words, std::size_t at, const Words& more) {
  words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
}

Words pass_by_options(Words words, const std::vector<AppContext>& contexts, Passing passing,
                      const ForwardedVariables& passed) {
  // From the last to the first, so that positions before an insertion stay valid.
  for (std::size_t i = contexts.size(); i-- > 0;) {
    const Users users = extend_user_variables(words, contexts[i], passing, passed.preload);
    if (users.shut_out_at > 0) {
      insert(words, users.shut_out_at, options_for(passed.variables, users.for_one, "-env"));
    }
    if (i > 0 && passing != Passing::x_each_context) continue;
    const std::string option = passing == Passing::genv ? "-genv" : "-x";
    insert(words, contexts[i].begin, options_for(passed.variables, users.for_all, option));
  }
  return words;
}

// Adds huddle's variables to every --export of a component of srun's job. If there is none, adds
// one with the value of SLURM_EXPORT_ENV.
void extend_export(Words& words, const AppContext& context, const ForwardedVariables& passed) {
  constexpr std::string_view option = "--export";
  bool given = false;
  for (std::size_t at = context.begin; at < context.program; ++at) {
    std::string& word = words[at];
    if (word.starts_with(std::string(option) + "=")) {
      const std::string list = word.substr(option.size() + 1);
      word = std::string(option) + "=" + extended_export(list, passed.variables, passed.preload);
      given = true;
    } else if (word == option && at + 1 < context.program) {
      words[at + 1] = extended_export(words[at + 1], passed.variables, passed.preload);
      given = true;
    }
    if (word.starts_with('-')) at += words_taken(Passing::export_list, word);
  }
  if (given || passed.slurm_export.empty()) return;
  const std::string list = extended_export(passed.slurm_export, passed.variables, passed.preload);
  if (list == passed.slurm_export) return;
  insert(words, context.begin, {std::string(option) + "=" + list});
}

// Each component of a heterogeneous job has its own --export.
Words pass_by_export(Words words, const std::vector<AppContext>& contexts,
                     const ForwardedVariables& passed) {
  // From the last to the first, so that positions before an insertion stay valid.
  for (std::size_t i = contexts.size(); i-- > 0;) extend_export(words, contexts[i], passed);
  return words;
}

}  // namespace

std::vector<std::string> pass_variables(const std::vector<std::string>& words,
                                        const std::vector<AppContext>& contexts, Passing passing,
                                        const ForwardedVariables& passed) {
  if (passed.variables.empty()) return words;
  switch (passing) {
    case Passing::x_each_context:
    case Passing::x_once:
    case Passing::genv:
      return pass_by_options(words, contexts, passing, passed);
    case Passing::export_list:
      return pass_by_export(words, contexts, passed);
    case Passing::inherited:
    case Passing::unknown:
      return words;
  }
  return words;
}

}  // namespace huddle::launch
