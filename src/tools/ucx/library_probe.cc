// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "common/error.h"
#include "common/other_processes.h"
#include "tools/ucx/library.h"

namespace huddle::ucx {
namespace {

namespace fs = std::filesystem;

// ucx_info starts a worker for each transport, which takes half a second.
constexpr std::chrono::milliseconds wait{20000};

// Returns the variables for a wheel, in which bin and lib are in the same folder.
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
  if (!output) throw FailureError(fmt::format("cannot start {}", path_));
  if (output->too_slow) throw FailureError(fmt::format("{} does not end", path_));
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

namespace {

// The InfiniBand counter has units of four bytes.
constexpr double infiniband_word_bytes = 4;

}  // namespace

Traffic sent_so_far(const System& system) {
  Traffic sent;
  for (const std::string& device : system.list("/sys/class/net")) {
    const auto bytes = system.number(fmt::format("/sys/class/net/{}/statistics/tx_bytes", device));
    if (bytes) sent[device] += static_cast<double>(*bytes);
  }
  for (const std::string& device : system.list("/sys/class/infiniband")) {
    const std::string ports = fmt::format("/sys/class/infiniband/{}/ports", device);
    for (const std::string& port : system.list(ports)) {
      const auto words = system.number(fmt::format("{}/{}/counters/port_xmit_data", ports, port));
      if (words) sent[device] += infiniband_word_bytes * static_cast<double>(*words);
    }
  }
  return sent;
}

Traffic between(const Traffic& before, const Traffic& after) {
  Traffic sent;
  for (const auto& [device, bytes] : after) {
    const auto found = before.find(device);
    sent[device] = bytes - (found == before.end() ? 0 : found->second);
  }
  return sent;
}

void add(const Traffic& some, Traffic& to) {
  for (const auto& [device, bytes] : some) to[device] += bytes;
}

}  // namespace huddle::ucx
