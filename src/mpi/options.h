// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The settings of the preloaded library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/settings/settings.h"
#include "runtime/heap/start.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

struct Options {
  std::string machine_file;
  bool off = false;  // all calls fall back to the MPI, but may be counted
  bool stats = false;
  std::string stats_file;  // for statistics of all ranks; empty if they are not requested
  bool summary = false;
  bool times = false;  // include times in the summary
  bool verify = false;
  std::optional<std::size_t> activate_after;  // in calls; nullopt: decided by cost
  std::array<bool, select::operations.size()> handled{};
  bool tunes = false;       // measured times decide between huddle and the MPI
  std::string tuning_file;  // keeps results of trials between runs; empty if there is none
  // Number of calls after which trials begin; nullopt: when their cost is justified.
  std::optional<std::uint32_t> tune_after;
  bool may_reorder = false;        // also for reductions whose result depends on the order
  std::string algorithms;          // forced algorithms, in the syntax of the setting
  std::string net;                 // measured, auto, on or off
  std::string net_algorithms;      // forced inter-node algorithms
  std::optional<int> net_leaders;  // per node; nullopt: the number that is predicted to be fastest
  std::string heap;                // auto, on or off
  heap::Request heap_request;

  bool handles(select::Operation operation) const {
    return handled[static_cast<std::size_t>(operation)];
  }
  // Returns whether the run times of calls are reported.
  bool is_timed() const { return stats || times || !stats_file.empty(); }
  // Returns the value in the syntax of the setting.
  std::string activate_after_text() const;
  // Returns a hash that is equal if the ranks' settings are compatible.
  std::uint64_t digest() const;
};

// Reads the options. Calls `warn` for each invalid setting; the others apply.
using Warn = std::function<void(const std::string& sentence)>;
Options options_from(const settings::Sources& sources, const Warn& warn);

}  // namespace huddle::mpi
