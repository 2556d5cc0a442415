// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/ucx_report.h"

#include <fmt/format.h>

#include "base/text.h"

namespace huddle::cli {
namespace {

std::string lanes_text(const std::vector<ucx::Lane>& lanes) {
  std::string text;
  for (const ucx::Lane& lane : lanes) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : ", ", lane.transport, lane.device);
    if (lanes.size() > 1) text += fmt::format(" {:.0f} %", lane.share * 100);
  }
  return text;
}

std::string selections_text(const std::string& title,
                            const std::vector<ucx::Selection>& selections) {
  std::string text = title + "\n";
  for (const ucx::Selection& selection : selections) {
    text += fmt::format("  {}\n", selection.call);
    for (const ucx::Range& range : selection.ranges) {
      text += fmt::format("    from {:>6}  {}: {}\n", size_text(range.from_bytes),
                          lanes_text(range.lanes), range.protocol);
    }
  }
  return text;
}

}  // namespace

std::vector<Stray> strays_of(const std::vector<ucx::Selection>& selections,
                             const std::vector<ucx::Device>& devices) {
  std::vector<Stray> strays;
  for (const ucx::Selection& selection : selections) {
    for (const ucx::Range& range : selection.ranges) {
      for (const ucx::Lane& lane : range.lanes) {
        if (is_network(devices, lane)) strays.push_back({lane, selection.call, range.from_bytes});
      }
    }
  }
  return strays;
}

std::string ucx_check_text(const UcxCheck& check) {
  std::string text =
      selections_text("Messages inside the node, as things are:", check.now) + "\n" +
      selections_text("With huddle's settings (huddle ucx prints them):", check.advised) + "\n";
  for (const std::string& complaint : check.complaints) {
    text += fmt::format("UCX about huddle's settings: {}\n", complaint);
  }
  const auto strays = strays_of(check.now, check.devices);
  for (const Stray& stray : strays) {
    text += fmt::format("{:.0f} % of messages from {} on go through {}/{}, a network device: {}\n",
                        stray.lane.share * 100, size_text(stray.from_bytes), stray.lane.transport,
                        stray.lane.device, stray.call);
  }
  if (strays.empty()) return text + "No message inside the node goes through a network device.\n";
  const bool helps = strays_of(check.advised, check.devices).empty();
  return text + (helps ? "With huddle's settings none does.\n"
                       : "huddle's settings do not keep them in the node either.\n");
}

}  // namespace huddle::cli
