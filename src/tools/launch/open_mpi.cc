// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/launch/open_mpi.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "common/text.h"
#include "tools/launch/preload.h"

namespace huddle::launch {
namespace {

constexpr std::string_view env_list_name = "mca_base_env_list";

// Returns the parts of the list that are not empty.
std::vector<std::string> parts_of(std::string_view list, char separator) {
  std::vector<std::string> parts;
  for (const std::string_view part : huddle::split(list, separator)) {
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

// Variables that the list already contains stay unchanged, except that huddle's files are appended
// to an LD_PRELOAD with a value.
std::string extended_env_list(std::string_view list, const ForwardedVariables& passed) {
  std::vector<std::string> items = parts_of(list, ';');
  std::set<std::string> present;
  for (std::string& item : items) {
    const std::string name = item.substr(0, item.find('='));
    if (name == preload_name && name != item && !passed.preload.empty()) {
      item =
          fmt::format("{}={}", name, joined_preload(passed.preload, item.substr(name.size() + 1)));
    }
    present.insert(name);
  }
  for (const Variable& variable : passed.variables) {
    if (!present.contains(variable.name)) items.push_back(assignment(variable));
  }
  return fmt::format("{}", fmt::join(items, ";"));
}

// Calls `visit` with the name of each option before the program and the position of its first
// value. Options of later programs do not matter: mpirun reads files and lists for the first only.
void for_each_option(const std::vector<std::string>& words, const AppContext& context,
                     const std::function<void(std::string_view, std::size_t)>& visit) {
  for (std::size_t at = context.begin; at < context.program; ++at) {
    const std::string_view word = words[at];
    if (!word.starts_with('-')) continue;
    visit(word.substr(std::min(word.find_first_not_of('-'), word.size())), at + 1);
    at += words_taken(Passing::x_each_context, word);
  }
}

// The options of a command line that decide how variables reach the ranks.
struct Found {
  std::optional<std::size_t> env_list;  // position of the list
  std::string tune;                     // files, separated by commas
  std::string app;
};

Found options_in(const std::vector<std::string>& words, const AppContext& context) {
  Found found;
  for_each_option(words, context, [&](std::string_view name, std::size_t value) {
    if (value >= words.size()) return;
    const bool is_parameter = name == "mca" || name == "gmca";
    if (is_parameter && words[value] == env_list_name && value + 1 < words.size()) {
      found.env_list = value + 1;
    } else if (name == "tune") {
      found.tune = words[value];
    } else if (name == "app") {
      found.app = words[value];
    }
  });
  return found;
}

bool sets_env_list(const std::string& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (std::string_view(line).substr(0, line.find('#')).find(env_list_name) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Returns an empty string if no file contains the list.
std::string file_with_env_list(const std::string& tune, const EnvListSources& sources) {
  std::vector<std::string> all = parts_of(tune, ',');
  all.insert(all.end(), sources.parameter_files.begin(), sources.parameter_files.end());
  const auto it = std::find_if(all.begin(), all.end(), sets_env_list);
  return it == all.end() ? std::string() : *it;
}

}  // namespace

std::vector<std::string> parameter_files_of(const std::string& path, const std::string& home) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  std::vector<std::string> files = {"/etc/openmpi/openmpi-mca-params.conf"};  // that of Debian
  if (!error) {
    files.push_back((real.parent_path().parent_path() / "etc/openmpi-mca-params.conf").string());
  }
  if (!home.empty()) files.push_back(home + "/.openmpi/mca-params.conf");
  return files;
}

OpenMpiCommand pass_in_open_mpi_4(const std::vector<std::string>& words,
                                  const std::vector<AppContext>& contexts,
                                  const ForwardedVariables& passed, const EnvListSources& sources) {
  const Found found = options_in(words, contexts.front());
  OpenMpiCommand command{.words = words};
  if (passed.variables.empty()) return command;
  command.app_file = found.app;
  if (found.env_list) {
    std::string& list = command.words[*found.env_list];
    list = extended_env_list(list, passed);
  } else if (!sources.variable.empty()) {
    command.env_list = extended_env_list(sources.variable, passed);
  } else if (std::string file = file_with_env_list(found.tune, sources); !file.empty()) {
    command.file_with_env_list = std::move(file);
  } else {
    command.words = pass_variables(words, contexts, Passing::x_each_context, passed);
  }
  return command;
}

}  // namespace huddle::launch
