// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An installed UCX as described by its program ucx_info, whose output differs between versions. The
// functions accept the output of 1.13 to 1.22, and throw FailureError with the first unknown line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/system.h"
#include "tools/ucx/score.h"

namespace huddle::ucx {

enum class DeviceKind { loopback, intra_node, network, accelerator };

// A device, as one transport uses it.
struct Device {
  std::string transport;  // "cma", "tcp", "rc_mlx5"
  std::string name;       // "memory", "eth0", "mlx5_0:1"
  DeviceKind kind = DeviceKind::network;
  double shared_bytes_per_s = 0;
  double dedicated_bytes_per_s = 0;

  bool operator==(const Device&) const = default;
};

// A transport and device that carry a part of each message.
struct Lane {
  std::string transport;
  std::string device;
  double share = 1;  // of the message

  bool operator==(const Lane&) const = default;
};

// The protocol and lanes for messages from this size up to the next range.
struct Range {
  double from_bytes = 0;
  std::string protocol;
  std::vector<Lane> lanes;

  bool operator==(const Range&) const = default;
};

// The protocols for one kind of call, for example a send with fast local completion.
struct Selection {
  std::string call;
  std::vector<Range> ranges;

  bool operator==(const Selection&) const = default;
};

// Settings by name, "UCX_CMA_BW", with their defaults.
using Settings = std::map<std::string, std::string, std::less<>>;

struct Library {
  Version version;
  Settings settings;
  std::vector<Device> devices;
};

Version read_version(std::string_view printed);
Settings read_settings(std::string_view printed);
std::vector<Device> read_devices(std::string_view printed);

// Needed to estimate the shares of lanes if UCX prints none: the bandwidths of `devices` for
// `ranks` ranks, and the lane ratio.
struct LaneRules {
  std::vector<Device> devices;
  int ranks = 1;
  double ratio = 1;
};
// Returns whether UCX printed tables of estimated protocols, which make LaneRules unnecessary.
bool has_estimates(std::string_view printed);
// Returns what UCX selects between two processes of one node: from the tables of estimated
// protocols, or else from thresholds and the list of lanes, which apply with UCX_PROTO_ENABLE=n.
std::vector<Selection> read_selections(std::string_view printed, const LaneRules& rules);
// Returns the texts of UCX's warnings and errors.
std::vector<std::string> complaints(std::string_view printed);

// Returns the lane ratio that this UCX applies with its settings.
double lane_ratio(const Library& library);

// Returns whether the lane's device is a network device.
bool is_network(const std::vector<Device>& devices, const Lane& lane);

// Environment variables in the form "NAME=value".
using Environment = std::vector<std::string>;

struct Selected {
  std::vector<Selection> selections;
  std::vector<std::string> complaints;  // UCX's warnings and errors
};

// Runs ucx_info, which describes an installed UCX and its selections.
class Tool {
 public:
  // `path` is that of ucx_info. Also works in a Python wheel, whose libraries are in ../lib, a
  // folder that the loader does not search.
  explicit Tool(std::string path);

  const std::string& path() const { return path_; }
  // Returns the version, settings and devices of UCX while these settings are in effect. Throws
  // FailureError if ucx_info fails or its output is unknown.
  Library library(const Environment& settings = {}) const;
  // Returns what two processes of a node with this many ranks use with these settings, in the
  // protocol mode of this UCX. Throws FailureError if ucx_info fails or its output is unknown.
  Selected selected(const Library& installed, const Environment& settings, int ranks) const;

 private:
  std::string run(const Environment& settings, const std::vector<std::string>& words) const;

  std::string path_;
  Environment own_;  // environment that it needs to find its libraries
};

// Returns the first ucx_info in the folders of `search_path`, which has the format of PATH; nothing
// if there is none.
std::optional<std::string> find_tool(std::string_view search_path);

// Bytes sent by each network device, by name: "lo", "mlx5_0".
using Traffic = std::map<std::string, double>;

// Returns the counters of this machine.
Traffic sent_so_far(const System& system);
// Returns the traffic between two readings of the counters.
Traffic between(const Traffic& before, const Traffic& after);
void add(const Traffic& some, Traffic& to);

}  // namespace huddle::ucx
