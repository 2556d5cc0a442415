// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/system.h"
#include "tools/ucx/score.h"

namespace huddle::ucx {
namespace {

[[noreturn]] void refuse(std::string_view line) {
  throw FailureError(
      fmt::format("huddle does not understand the output of UCX: '{}'. It is ignored; please "
                  "report it with the output of 'ucx_info -v'",
                  line));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r#");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") + 1 - from);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t from = text.find_first_not_of(' ');
    if (from == std::string_view::npos) return words;
    text.remove_prefix(from);
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// Returns the text after "name:" if the line begins so.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  const std::string_view text = trimmed(line);
  if (!text.starts_with(name) || text.substr(name.size(), 1) != ":") return std::nullopt;
  return trimmed(text.substr(name.size() + 1));
}

std::optional<double> number_from(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool skip(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

std::optional<DeviceKind> kind_from(std::string_view word) {
  if (word == "loopback") return DeviceKind::loopback;
  if (word == "intra-node") return DeviceKind::intra_node;
  if (word == "network") return DeviceKind::network;
  if (word == "accelerator") return DeviceKind::accelerator;
  return std::nullopt;
}

// Parses for example "11.91/ppn + 0.00 MB/sec": the shared and the dedicated bandwidth.
bool read_bandwidth(std::string_view text, Device& device) {
  const auto shared = number_from(text);
  if (!shared || !skip(text, "/ppn + ")) return false;
  const auto dedicated = number_from(text);
  if (!dedicated || text != " MB/sec") return false;
  device.shared_bytes_per_s = *shared * ucx_mb;
  device.dedicated_bytes_per_s = *dedicated * ucx_mb;
  return true;
}

// Returns the cells between the bars of a table line; empty if it is not one.
std::vector<std::string_view> cells_of(std::string_view line) {
  const std::size_t from = line.find('|');
  const std::size_t to = line.rfind('|');
  std::vector<std::string_view> cells;
  if (from == std::string_view::npos || from == to) return cells;
  std::string_view text = line.substr(from + 1, to - from - 1);
  for (;;) {
    const std::size_t bar = text.find('|');
    cells.push_back(trimmed(text.substr(0, bar)));
    if (bar == std::string_view::npos) return cells;
    text.remove_prefix(bar + 1);
  }
}

// Returns the start of a range: 262,144 for "256K..inf".
std::optional<double> range_start(std::string_view text) {
  const std::size_t end = text.find("..");
  if (end == std::string_view::npos) return std::nullopt;
  text = text.substr(0, end);
  const auto number = number_from(text);
  if (!number) return std::nullopt;
  double unit = 1;
  if (skip(text, "K"))
    unit = 1024;
  else if (skip(text, "M"))
    unit = 1024.0 * 1024;
  else if (skip(text, "G"))
    unit = 1024.0 * 1024 * 1024;
  return text.empty() ? std::optional(*number * unit) : std::nullopt;
}

// Parses for example "cma/memory" or "63% on cma/memory and 37% on tcp/lo".
std::optional<std::vector<Lane>> lanes_from(std::string_view text) {
  std::vector<Lane> lanes;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(" and "), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 5, text.size()));
    Lane lane;
    const std::size_t on = one.find("% on ");
    if (on != std::string_view::npos) {
      const auto percent = number_from(one);
      if (!percent || !skip(one, "% on ")) return std::nullopt;
      lane.share = *percent / 100;
    }
    const std::size_t slash = one.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    lane.transport = one.substr(0, slash);
    lane.device = one.substr(slash + 1);
    lanes.push_back(std::move(lane));
  }
  return lanes;
}

// A heading in the last cell applies to the following rows.
bool is_heading(std::string_view cell) { return cell.starts_with("tagged message by"); }

std::vector<Selection> read_tables(std::string_view printed) {
  std::vector<Selection> selections;
  for (const std::string_view line : lines_of(printed)) {
    // The log repeats each table after a time stamp; only the printed table is read.
    if (!line.starts_with('#')) continue;
    const std::vector<std::string_view> cells = cells_of(line);
    if (cells.empty()) continue;
    if (is_heading(cells.back())) {
      selections.push_back({std::string(cells.back()), {}});
      continue;
    }
    if (cells.size() != 3 || selections.empty() || cells[0] == "Range") continue;
    const auto start = range_start(cells[0]);
    auto lanes = lanes_from(cells[2]);
    if (!start || !lanes) refuse(line);
    selections.back().ranges.push_back({*start, std::string(cells[1]), std::move(*lanes)});
  }
  return selections;
}

// The lanes that eager messages and rendezvous messages use.
struct LanesByUse {
  std::vector<Lane> eager;
  std::vector<Lane> rendezvous;
};

// Parses lines such as "lane[1]:  5:cma/memory.0 md[4]   -> md[4]/cma/sysdev[255] rma_bw#0".
LanesByUse lanes_by_use(std::string_view printed) {
  LanesByUse lanes;
  for (const std::string_view line : lines_of(printed)) {
    const std::string_view text = trimmed(line);
    if (!text.starts_with("lane[")) continue;
    const std::vector<std::string_view> words = words_of(text);
    if (words.size() < 2) refuse(line);
    const std::size_t colon = words[1].find(':');
    const std::size_t slash = words[1].find('/');
    const std::size_t dot = words[1].rfind('.');
    if (colon == std::string_view::npos || slash == std::string_view::npos ||
        dot == std::string_view::npos || colon > slash || slash > dot) {
      refuse(line);
    }
    const Lane lane{std::string(words[1].substr(colon + 1, slash - colon - 1)),
                    std::string(words[1].substr(slash + 1, dot - slash - 1))};
    for (const std::string_view word : words) {
      if (word == "am") lanes.eager.push_back(lane);
      if (word.starts_with("rma_bw#")) lanes.rendezvous.push_back(lane);
    }
  }
  return lanes;
}

double rate_of_lane(const Lane& lane, const LaneRules& rules) {
  for (const Device& device : rules.devices) {
    if (device.transport != lane.transport || device.name != lane.device) continue;
    return rate_of({device.dedicated_bytes_per_s, device.shared_bytes_per_s}, rules.ranks);
  }
  return 0;
}

// Drops lanes that are slower than the best one by more than the ratio, as UCX does, and estimates
// the shares of the others by their rates. UCX cuts a message into chunks, so real shares differ.
LanesByUse lanes_for(std::string_view printed, const LaneRules& rules) {
  LanesByUse lanes = lanes_by_use(printed);
  double best = 0;
  for (const Lane& lane : lanes.rendezvous) best = std::max(best, rate_of_lane(lane, rules));
  std::erase_if(lanes.rendezvous, [&](const Lane& lane) {
    return !takes_lane(rate_of_lane(lane, rules), best, rules.ratio);
  });
  double together = 0;
  for (const Lane& lane : lanes.rendezvous) together += rate_of_lane(lane, rules);
  if (together <= 0) return lanes;
  for (Lane& lane : lanes.rendezvous) lane.share = rate_of_lane(lane, rules) / together;
  return lanes;
}

// Parses lines such as "tag_send: 0..<egr/short>..93..<egr/bcopy>..8256..<rndv>..(inf)".
std::vector<Selection> read_thresholds(std::string_view printed, const LanesByUse& lanes) {
  constexpr std::string_view step = "..";
  std::vector<Selection> selections;
  for (const std::string_view line : lines_of(printed)) {
    std::string_view text = trimmed(line);
    const std::size_t colon = text.find(':');
    if (!text.starts_with("tag_send") || colon == std::string_view::npos) continue;
    Selection selection{fmt::format("ucp_{}", text.substr(0, colon)), {}};
    text = trimmed(text.substr(colon + 1));
    while (text != "(inf)") {
      const auto start = range_start(text);
      if (!start) refuse(line);
      text.remove_prefix(text.find(step));
      const std::size_t end = text.find('>');
      if (!skip(text, "..<") || end == std::string_view::npos) refuse(line);
      const std::string_view protocol = text.substr(0, text.find('>'));
      text.remove_prefix(protocol.size() + 1);
      if (!skip(text, step)) refuse(line);
      const bool is_eager = protocol != "rndv" || lanes.rendezvous.empty();
      selection.ranges.push_back(
          {*start, std::string(protocol), is_eager ? lanes.eager : lanes.rendezvous});
    }
    selections.push_back(std::move(selection));
  }
  return selections;
}

}  // namespace

Version read_version(std::string_view printed) {
  for (const std::string_view line : lines_of(printed)) {
    for (const std::string_view name : {"Library version", "Version"}) {
      if (const auto value = value_of(line, name)) {
        if (const auto version = version_from(*value)) return *version;
      }
    }
    // Version 1.13 prints "# Version 1.13.1".
    std::string_view text = trimmed(line);
    if (skip(text, "Version ")) {
      if (const auto version = version_from(text)) return *version;
    }
  }
  refuse(printed.substr(0, printed.find('\n')));
}

Settings read_settings(std::string_view printed) {
  Settings settings;
  for (const std::string_view line : lines_of(printed)) {
    if (!line.starts_with("UCX_")) continue;
    const std::size_t end = line.find_first_of("= ");
    if (end == std::string_view::npos) refuse(line);
    // A deprecated setting such as "UCX_CMA_MAX_SHORT (deprecated)" cannot be set.
    if (line[end] == '=') settings.emplace(line.substr(0, end), line.substr(end + 1));
  }
  if (settings.empty()) refuse(printed.substr(0, printed.find('\n')));
  return settings;
}

std::vector<Device> read_devices(std::string_view printed) {
  std::vector<Device> devices;
  std::string transport;
  for (const std::string_view line : lines_of(printed)) {
    if (const auto value = value_of(line, "Transport")) transport = *value;
    if (const auto value = value_of(line, "Device")) {
      devices.push_back({transport, std::string(*value), DeviceKind::network, 0, 0});
    }
    if (devices.empty()) continue;
    if (const auto value = value_of(line, "Type")) {
      const auto kind = kind_from(*value);
      if (!kind) refuse(line);
      devices.back().kind = *kind;
    }
    if (const auto value = value_of(line, "bandwidth")) {
      if (!read_bandwidth(*value, devices.back())) refuse(line);
    }
  }
  if (devices.empty()) refuse(printed.substr(0, printed.find('\n')));
  return devices;
}

bool has_estimates(std::string_view printed) { return !read_tables(printed).empty(); }

std::vector<Selection> read_selections(std::string_view printed, const LaneRules& rules) {
  std::vector<Selection> selections = read_tables(printed);
  if (selections.empty()) selections = read_thresholds(printed, lanes_for(printed, rules));
  if (selections.empty()) refuse(printed.substr(0, printed.find('\n')));
  return selections;
}

std::vector<std::string> complaints(std::string_view printed) {
  std::vector<std::string> found;
  for (const std::string_view line : lines_of(printed)) {
    for (const std::string_view level : {"UCX  ERROR ", "UCX  WARN  ", "UCX  FATAL "}) {
      const std::size_t at = line.find(level);
      if (at != std::string_view::npos) found.emplace_back(line.substr(at + level.size()));
    }
  }
  return found;
}

double lane_ratio(const Library& library) {
  const auto found = library.settings.find("UCX_MULTI_LANE_MAX_RATIO");
  if (found == library.settings.end()) return shipped_lane_ratio(library.version);
  std::string_view text = found->second;
  return number_from(text).value_or(shipped_lane_ratio(library.version));
}

bool is_network(const std::vector<Device>& devices, const Lane& lane) {
  return std::any_of(devices.begin(), devices.end(), [&](const Device& device) {
    return device.kind == DeviceKind::network && device.transport == lane.transport &&
           device.name == lane.device;
  });
}

}  // namespace huddle::ucx
