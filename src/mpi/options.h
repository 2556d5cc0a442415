// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the preloaded library was told.
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
  bool off = false;  // all goes to the MPI, and may be counted
  bool stats = false;
  bool summary = false;
  bool times = false;  // in the summary
  bool verify = false;
  std::optional<std::size_t> join_after;  // calls; nothing: when it pays
  std::array<bool, select::operations.size()> taken{};
  std::string algorithms;          // that are forced, as the setting is written
  std::string net;                 // measured, auto, on or off
  std::string net_algorithms;      // that are forced between nodes
  std::optional<int> net_leaders;  // of each node; nothing: as is predicted to be quickest
  std::string heap;                // auto, on or off
  heap::Wish heap_wish;

  bool takes(select::Operation operation) const {
    return taken[static_cast<std::size_t>(operation)];
  }
  // Whether somebody wants to know how long calls take.
  bool is_timed() const { return stats || times; }
  // As the setting is written.
  std::string join_after_text() const;
  // Equal where the ranks may work together.
  std::uint64_t digest() const;
};

// Reads the options of a running program. A wrong setting is reported to `complain` and ignored;
// all others hold.
using Complain = std::function<void(const std::string& sentence)>;
Options options_from(const settings::Sources& sources, const Complain& complain);

}  // namespace huddle::mpi
