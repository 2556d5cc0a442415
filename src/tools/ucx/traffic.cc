// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/traffic.h"

#include <fmt/format.h>

namespace huddle::ucx {
namespace {

// InfiniBand counts in words of four bytes.
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
