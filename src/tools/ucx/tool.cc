// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/tool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "common/error.h"
#include "common/run_program.h"

namespace huddle::ucx {
namespace {

namespace fs = std::filesystem;

// It starts a worker of each transport, which takes half a second.
constexpr std::chrono::milliseconds wait{20000};

// Folders of a wheel: bin beside lib.
Environment context(const std::string& path) {
  std::error_code ignored;
  const fs::path libraries = fs::absolute(path, ignored).parent_path().parent_path() / "lib";
  if (!fs::exists(libraries / "libucp.so.0", ignored)) return {};
  Environment lines = {"LD_LIBRARY_PATH=" + libraries.string()};
  if (fs::exists(libraries / "ucx", ignored)) {
    lines.push_back("UCX_MODULE_DIR=" + (libraries / "ucx").string());
  }
  return lines;
}

}  // namespace

Tool::Tool(std::string path) : path_(std::move(path)), own_(context(path_)) {}

std::string Tool::run(const Environment& settings, const std::vector<std::string>& words) const {
  std::vector<std::string> all = {"/usr/bin/env"};
  all.insert(all.end(), own_.begin(), own_.end());
  all.insert(all.end(), settings.begin(), settings.end());
  all.push_back(path_);
  all.insert(all.end(), words.begin(), words.end());
  const auto output = run_program(all, wait);
  if (!output) throw FailureError(fmt::format("{} cannot be started", path_));
  if (output->too_slow) throw FailureError(fmt::format("{} does not come to its end", path_));
  return output->text;
}

Library Tool::library(const Environment& settings) const {
  return {read_version(run(settings, {"-v"})), read_settings(run(settings, {"-c", "-a"})),
          read_devices(run(settings, {"-d"}))};
}

Selected Tool::selected(const Library& installed, const Environment& settings, int ranks) const {
  Environment all = settings;
  // Some versions print estimated protocols only with this setting.
  if (installed.settings.count("UCX_PROTO_INFO") > 0) all.emplace_back("UCX_PROTO_INFO=y");
  const std::string printed =
      run(all, {"-e", "-u", "t", "-P", "intra", "-N", std::to_string(ranks)});
  LaneRules rules;
  if (!has_estimates(printed)) {
    const Library as_set = library(settings);
    rules = {as_set.devices, ranks, lane_ratio(as_set)};
  }
  return {read_selections(printed, rules), complaints(printed)};
}

std::optional<std::string> find_tool(std::string_view search_path) {
  while (!search_path.empty()) {
    const std::size_t end = std::min(search_path.find(':'), search_path.size());
    const std::string path = fmt::format("{}/ucx_info", search_path.substr(0, end));
    if (end > 0 && ::access(path.c_str(), X_OK) == 0) return path;
    search_path.remove_prefix(std::min(end + 1, search_path.size()));
  }
  return std::nullopt;
}

}  // namespace huddle::ucx
