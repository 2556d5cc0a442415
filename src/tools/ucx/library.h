// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An installed UCX, as its own program ucx_info describes it. The output differs between versions:
// the functions here read that of 1.13 to 1.22, and throw FailureError with the line that they do
// not know.
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

// One device as one transport drives it.
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

// The protocol and the lanes for messages from this size to the next range.
struct Range {
  double from_bytes = 0;
  std::string protocol;
  std::vector<Lane> lanes;

  bool operator==(const Range&) const = default;
};

// The protocols for one kind of call, such as a send that should complete locally soon.
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

// The basis of shares if UCX prints none: rates as `devices` gives them, divided by
// `ranks`, and the ratio of lanes.
struct LaneRules {
  std::vector<Device> devices;
  int ranks = 1;
  double ratio = 1;
};
// Returns whether UCX printed tables of estimated protocols, with which no rules are needed.
bool has_estimates(std::string_view printed);
// Reads what UCX selects between two processes of one node: from the tables of estimated protocols,
// or else from thresholds and the list of lanes, which are what applies with UCX_PROTO_ENABLE=n.
std::vector<Selection> read_selections(std::string_view printed, const LaneRules& rules);
// Returns the texts of UCX's warnings and errors.
std::vector<std::string> complaints(std::string_view printed);

// Returns the ratio of lanes that this UCX applies with its settings.
double lane_ratio(const Library& library);

// Returns whether the lane's device connects nodes.
bool is_network(const std::vector<Device>& devices, const Lane& lane);

// ucx_info, UCX's own program: it prints what a UCX is and what it would do.

// "NAME=value" each.
using Environment = std::vector<std::string>;

struct Selected {
  std::vector<Selection> selections;
  std::vector<std::string> complaints;  // UCX's warnings and errors
};

class Tool {
 public:
  // path: of ucx_info. In a wheel the libraries lie beside it, where the loader does not look.
  explicit Tool(std::string path);

  const std::string& path() const { return path_; }
  // Returns version, settings and devices as they are with these settings. Throws FailureError.
  Library library(const Environment& settings = {}) const;
  // Returns what two processes of a node with this many ranks send over with these settings, in the
  // protocol mode of this UCX. Throws FailureError.
  Selected selected(const Library& installed, const Environment& settings, int ranks) const;

 private:
  std::string run(const Environment& settings, const std::vector<std::string>& words) const;

  std::string path_;
  Environment own_;  // what it needs to find its libraries
};

// The first ucx_info among these folders, which PATH separates by colons; nothing where there is
// none.
std::optional<std::string> find_tool(std::string_view search_path);

// What the network devices of this machine have sent so far, as the system counts it.

// Bytes by device: "lo", "mlx5_0".
using Traffic = std::map<std::string, double>;

Traffic sent_so_far(const System& system);
// What went out from one look to a later one.
Traffic between(const Traffic& before, const Traffic& after);
void add(const Traffic& some, Traffic& to);

}  // namespace huddle::ucx
