// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Keeps the machine file of this node from one job to the next, in the user's cache folder: to
// discover the topology takes milliseconds, to read a file a tenth of one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/system.h"

namespace huddle::machine {

// Everything on which the description of this node depends: boot, visible processors, settings and
// machine files. All functions work for the calling process.
class StoredMachine {
 public:
  // These follow from environment variables.
  struct Environment {
    std::string cache_folder;  // with a trailing slash; empty if there is none
    std::string hwloc_variables;
    std::vector<std::string> machine_folders;

    static Environment own();
  };

  // `named` is a value of --machine or HUDDLE_MACHINE, or empty.
  explicit StoredMachine(const std::string& named, const System& system = System())
      : StoredMachine(named, system, Environment::own(), read_cgroup_limits(system)) {}
  // Does not read the environment, which another thread may be changing.
  StoredMachine(const std::string& named, const System& system, const Environment& environment,
                const CgroupLimits& limits);

  // Returns the machine file that was stored for the present state of this node, or nothing.
  std::optional<std::string> find() const noexcept;
  // Stores a machine file, which was read from `file` or, if that is empty, generated. Does nothing
  // if the user has no folder for it.
  void store(std::string_view text, const std::string& file) const noexcept;

  // Returns where the machine file is stored; empty if the user has no cache folder.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string state_;
};

}  // namespace huddle::machine
