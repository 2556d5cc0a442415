// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads and changes the affinity masks of threads. Tests replace ThreadMasks by a fake.
#pragma once

#include <sys/types.h>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::threads {

// Identifies a process or thread. The kernel reuses ids; start times distinguish them.
struct Identity {
  pid_t number = 0;
  std::uint64_t born = 0;  // start time in clock ticks since boot

  auto operator<=>(const Identity&) const = default;
};

class ThreadMasks {
 public:
  virtual ~ThreadMasks() = default;

  // Returns nothing if there is no such thread.
  virtual std::optional<machine::CpuSet> mask(pid_t thread) const = 0;
  // Returns 0 or an errno.
  virtual int set_mask(pid_t thread, const machine::CpuSet& processors) = 0;
  // Returns the start time of a thread or process; 0 if there is none.
  virtual std::uint64_t born(pid_t number) const = 0;
  virtual std::vector<pid_t> threads_of(pid_t process) const = 0;
  virtual std::vector<pid_t> children_of(pid_t process) const = 0;
  virtual pid_t parent_of(pid_t process) const = 0;  // 0 if it has none or it is not visible

  bool is_there(const Identity& one) const { return one.born != 0 && born(one.number) == one.born; }
};

// The masks of this system.
class SystemMasks final : public ThreadMasks {
 public:
  std::optional<machine::CpuSet> mask(pid_t thread) const override;
  int set_mask(pid_t thread, const machine::CpuSet& processors) override;
  std::uint64_t born(pid_t number) const override;
  std::vector<pid_t> threads_of(pid_t process) const override;
  std::vector<pid_t> children_of(pid_t process) const override;
  pid_t parent_of(pid_t process) const override;
};

// Returns whether the process exists and is not a zombie.
bool is_running(const Identity& process);
Identity own_identity();

// The mask of a thread that is placed on a hardware thread.
enum class Binding {
  group,  // all hardware threads of the innermost shared cache: leaves the scheduler a choice
  core,   // that core alone
};
inline constexpr std::array<std::string_view, 2> binding_names = {"group", "core"};

// The number of a thread, and the OS index of the hardware thread that was chosen for it.
struct Assignment {
  int thread = 0;
  int processor = 0;
};

// Current state of the threads after decisions were carried out.
struct Standing {
  std::map<int, int> assignments = {};  // by thread: the hardware thread for which it is bound
  std::vector<int> alone = {};          // threads that huddle must not move
  machine::CpuSet allowed = {};         // hardware threads that no other agent has claimed
};

// Returns all hardware threads of the cores that contain `processors`.
machine::CpuSet cores_of(const machine::Topology& topology, const machine::CpuSet& processors);

// Returns the mask, within `usable`, of a thread that is placed on `processor`.
// Requires: `usable` contains `processor`.
machine::CpuSet seat_mask(const machine::Topology& topology, const machine::CpuSet& usable,
                          int processor, Binding binding);

}  // namespace huddle::threads
