// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Settings of UCX that tell it the truth about this node: what was measured in place of its
// constants, so that it takes the path that is the fastest, and no network card for messages that
// stay inside the node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/cost.h"
#include "ucx/library.h"

namespace huddle::ucx {

struct Setting {
  std::string name;      // "UCX_CMA_BW"
  std::string value;     // "9500MBps"
  std::string figure;    // what it follows from
  std::string replaces;  // UCX's own value; empty where it is not known
  std::string reason;    // what changes

  bool operator==(const Setting&) const = default;
};

// A setting that one would expect, and why it is not written.
struct Omitted {
  std::string name;
  std::string why;

  bool operator==(const Omitted&) const = default;
};

struct Advice {
  std::vector<Setting> settings;
  std::vector<Omitted> omitted;
  double believed_bytes_per_s = 0;  // what UCX then takes the fastest path into a peer's memory for
  std::optional<double> lane_ratio;  // none: UCX's own stays
};

struct Question {
  int ranks = 1;  // of one node
  Version version;
  // What the UCX itself says; null where it was not asked: then settings that this version is known
  // to have are taken for granted, and the network is the machine file's.
  const Library* library = nullptr;
  // Names of settings that the user has made already.
  std::vector<std::string> users_own;
};

// pre: the machine's paths and copies are those of the machine that is asked about.
Advice advise(const machine::CostModel& model, const Question& question);

// "NAME=value" each.
std::vector<std::string> lines_of(const std::vector<Setting>& settings);

}  // namespace huddle::ucx
