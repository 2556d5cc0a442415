// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which processors threads may run on: read and changed. A test has threads of its own making.
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

// A process or a thread. Numbers are given to others when it has died: the moment of its birth
// tells them apart.
struct Identity {
  pid_t number = 0;
  std::uint64_t born = 0;  // in the kernel's ticks since it was started

  auto operator<=>(const Identity&) const = default;
};

class ThreadMasks {
 public:
  virtual ~ThreadMasks() = default;

  // Nothing where there is no such thread.
  virtual std::optional<machine::CpuSet> mask(pid_t thread) const = 0;
  // 0, or an errno.
  virtual int set_mask(pid_t thread, const machine::CpuSet& processors) = 0;
  // Of a thread or a process; 0 where there is none.
  virtual std::uint64_t born(pid_t number) const = 0;
  virtual std::vector<pid_t> threads_of(pid_t process) const = 0;
  virtual std::vector<pid_t> children_of(pid_t process) const = 0;
  virtual pid_t parent_of(pid_t process) const = 0;  // 0: of none, or of one that is not to be seen

  bool is_there(const Identity& one) const { return one.born != 0 && born(one.number) == one.born; }
};

// Those of this system.
class SystemMasks final : public ThreadMasks {
 public:
  std::optional<machine::CpuSet> mask(pid_t thread) const override;
  int set_mask(pid_t thread, const machine::CpuSet& processors) override;
  std::uint64_t born(pid_t number) const override;
  std::vector<pid_t> threads_of(pid_t process) const override;
  std::vector<pid_t> children_of(pid_t process) const override;
  pid_t parent_of(pid_t process) const override;
};

// A process that is there and has not ended: one that nobody has waited for yet has.
bool is_running(const Identity& process);
Identity own_identity();

// Where a thread that should sit on a processor may run.
enum class Binding {
  group,  // on all processors of the innermost cache that cores share: the system still has a
          // choice
  core,   // on that core alone
};
inline constexpr std::array<std::string_view, 2> binding_names = {"group", "core"};

// A thread that has been chosen a processor, by its number.
struct Seat {
  int thread = 0;
  int processor = 0;
};

// What came of decisions that somebody carries out.
struct Standing {
  std::map<int, int> seats = {};  // by thread: the processor that it is bound for
  std::vector<int> alone = {};    // threads that are not ours to move
  machine::CpuSet allowed = {};   // processors that nobody else has claimed
};

// All processors of the cores that these belong to.
machine::CpuSet cores_of(const machine::Topology& topology, const machine::CpuSet& processors);

// Of these processors, for a thread that should sit on that one. pre: it is one of them.
machine::CpuSet seat_mask(const machine::Topology& topology, const machine::CpuSet& usable,
                          int processor, Binding binding);

}  // namespace huddle::threads
