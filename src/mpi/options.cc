// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/options.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/file.h"
#include "common/settings/settings.h"
#include "common/system.h"

namespace huddle::mpi {
namespace {

// Parses a list: "bcast,allreduce" selects these, "^bcast" all others, an empty list all.
std::array<bool, select::operations.size()> operations_of(std::string_view list) {
  const bool all_but = list.empty() || list.front() == '^';
  std::string names(list.empty() || !all_but ? list : list.substr(1));
  std::replace(names.begin(), names.end(), ',', ' ');
  const std::vector<std::string> listed = words(names);
  std::array<bool, select::operations.size()> handled{};
  for (const select::Operation operation : select::operations) {
    const bool named =
        std::find(listed.begin(), listed.end(), select::name(operation)) != listed.end();
    handled[static_cast<std::size_t>(operation)] = named != all_but;
  }
  return handled;
}

// Resolves a path in the present folder, because the program may change to another one.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto in_folder = std::filesystem::absolute(path, error);
  return error ? path : in_folder.string();
}

}  // namespace

std::uint64_t Options::digest() const {
  std::string text = verify ? "verify" : "";
  if (tunes) text += may_reorder ? "tune any-order" : "tune";
  if (tune_after) text += " after " + std::to_string(*tune_after);
  for (const select::Operation operation : select::operations) {
    if (handles(operation)) text += select::name(operation);
  }
  return std::hash<std::string>()(text + activate_after_text() + " net " + net + ' ' +
                                  net_algorithms + ' ' + std::to_string(net_leaders.value_or(0)));
}

std::string Options::activate_after_text() const {
  return activate_after ? std::to_string(*activate_after) : "auto";
}

Options options_from(const settings::Sources& sources, const Warn& warn) {
  const auto resolved = settings::resolve(sources, warn);
  const auto value = [&](std::string_view key) { return settings::find(resolved, key).value; };
  Options options;
  const std::string machine = value("machine");
  options.machine_file = is_toml_path(machine) ? absolute(machine) : machine;
  options.off = value("huddle") == "off";
  options.stats = value("stats") == "on";
  if (value("stats").ends_with(settings::output_suffix))
    options.stats_file = absolute(value("stats"));
  options.times = value("summary") == "times";
  options.summary = options.times || value("summary") == "on";
  options.verify = value("verify") == "on";
  options.handled = operations_of(value("ops"));
  options.may_reorder = value("tune") == "any-order";
  // Times of calls that are compared with the MPI's results include the comparison.
  if (value("tune").ends_with(settings::output_suffix) && !options.verify)
    options.tuning_file = absolute(value("tune"));
  options.tunes = value("tune") != "off";
  if (const auto calls = whole_number(value("tune-after")))
    options.tune_after = static_cast<std::uint32_t>(std::min<long long>(*calls, UINT32_MAX - 1));
  options.algorithms = value("algo");
  options.net = value("net");
  options.net_algorithms = value("net-algo");
  if (const auto leaders = whole_number(value("net-leaders"))) {
    options.net_leaders = static_cast<int>(std::min<long long>(*leaders, INT_MAX));
  }
  options.heap = value("heap");
  options.heap_request = heap::request_from(value);
  if (const auto calls = whole_number(value("activate-after"))) {
    options.activate_after = static_cast<std::size_t>(*calls);
  } else if (options.verify) {
    // Every call is compared from the first one on; the set-up cost does not matter then.
    options.activate_after = 0;
  }
  return options;
}

}  // namespace huddle::mpi
