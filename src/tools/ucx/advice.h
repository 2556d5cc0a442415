// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Recommends UCX settings that replace UCX's constants by values measured on this node, so that UCX
// selects the fastest path and uses no network cards for messages within the node.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"
#include "tools/ucx/library.h"

namespace huddle::ucx {

struct Setting {
  std::string name;      // "UCX_CMA_BW"
  std::string value;     // "9500MBps"
  std::string figure;    // the figure that the value follows from
  std::string replaces;  // UCX's own value; empty if it is not known
  std::string reason;    // what changes

  bool operator==(const Setting&) const = default;
};

// A setting that readers may expect, and why it is not recommended.
struct Omitted {
  std::string name;
  std::string why;

  bool operator==(const Omitted&) const = default;
};

struct Advice {
  std::vector<Setting> settings;
  // Settings that help on some machines and hurt on others, and that huddle has not tested. They
  // are written as comments.
  std::vector<Setting> untested;
  std::vector<Omitted> omitted;
  double believed_bytes_per_s = 0;  // UCX's figure for the fastest path into a peer's memory
  // The lane ratio that keeps network cards out of the node, even if it is untested. Nothing if
  // UCX's default already does so, or if no ratio can.
  std::optional<double> lane_ratio;
};

struct Question {
  int ranks = 1;  // of one node
  Version version;
  // The installed UCX; null if there is none. In that case the known settings of the version are
  // assumed, and paths and cards are those of the machine file.
  const Library* library = nullptr;
  // Names of the settings that the user has set.
  std::vector<std::string> users_own;
};

// Returns the recommended settings.
// Requires: the machine file describes the machine on which UCX runs.
Advice advise(const machine::CostModel& model, const Question& question);

// Returns one "NAME=value" per setting.
std::vector<std::string> lines_of(const std::vector<Setting>& settings);

// Settings in the form that a shell, a launcher or a batch system reads.
enum class Format { env, conf, openmpi, mpich, slurm };
inline constexpr std::array<std::string_view, 5> format_names = {"env", "conf", "openmpi", "mpich",
                                                                 "slurm"};

// Throws UsageError if no format has this name.
Format format_named(std::string_view name);

// The circumstances for which the settings were computed, as the text's first lines state them.
struct Heading {
  std::string machine;  // name of the machine
  Version version;
  int ranks = 1;
  std::string doubt;  // why they may be wrong; empty if there is no doubt
};

// Returns the advice as text; untested settings become comments, or are left out of a command line.
// Throws UsageError if this version cannot read the format.
std::string written(const Heading& heading, const Advice& advice, Format format);

// Returns whether the format has no comments, so that untested settings are missing from it.
bool leaves_out_untested(Format format);

}  // namespace huddle::ucx
