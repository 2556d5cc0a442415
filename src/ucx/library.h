// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A UCX that is installed, as its own program ucx_info describes it. What is printed differs from
// version to version: every function here reads what 1.13 and 1.22 print, and of what it does not
// know says so: throws FailureError with the line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ucx/version.h"

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

// Part of the messages of these sizes that goes this way.
struct Lane {
  std::string transport;
  std::string device;
  double share = 1;

  bool operator==(const Lane&) const = default;
};

// Messages of a range of sizes, and over what they go.
struct Range {
  double from_bytes = 0;
  std::string protocol;
  std::vector<Lane> lanes;

  bool operator==(const Range&) const = default;
};

// What one kind of call does: a plain send, one that wants to complete fast.
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
// Of two processes of one node.
std::vector<Selection> read_selections(std::string_view printed);
// Lines in which UCX complains.
std::vector<std::string> complaints(std::string_view printed);

// Whether that device lies between nodes.
bool is_network(const std::vector<Device>& devices, const Lane& lane);

}  // namespace huddle::ucx
