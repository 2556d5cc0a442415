// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The agent's record of what has to be restored: which threads it has bound with which original
// masks, and which kernel settings it has changed. Stored as lines of text that are only appended,
// each before the change that it describes, so that a later process can undo everything even if the
// agent was killed at any moment:
//
//   agent PID BORN            the process that binds
//   serves SOCKET TERMS       the agent accepts programs with these terms on that socket
//   guardian PID BORN         the process that restores everything if the agent ends
//   program PID BORN          a process whose threads are bound
//   bind TID BORN PID ORIGINAL BEFORE NEW CLAIM
//                             masks such as 0-3,8; BEFORE is the current mask, which is ORIGINAL or
//                             was set by an earlier line; CLAIM is the hardware thread it occupies
//   alone TID BORN            bound by another program: never changed by huddle
//   back TID BORN             restored
//   value PATH BEFORE SET     a kernel setting: its value before any agent changed it
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "placement/threads/thread_masks.h"

namespace huddle::threads {

// Reads an integer from a file in /proc/sys or debugfs. Returns nothing if it cannot be read.
std::optional<long long> kernel_value(const std::string& path);
// Writes such a file. Returns false with errno if the value is not in effect afterwards.
bool set_kernel_value(const std::string& path, long long value);

struct Kept {
  Identity thread = {};
  pid_t process = 0;
  machine::CpuSet original = {};
  machine::CpuSet before = {};  // mask before `set`
  machine::CpuSet set = {};
  int claim = -1;

  // Returns whether huddle has set this mask. That may be `before`, because the process may have
  // been killed between writing the line and setting the mask.
  bool has_set(const machine::CpuSet& mask) const {
    return mask != original && (mask == set || mask == before);
  }
};

// A kernel setting that is a number.
struct KeptValue {
  std::string path = {};
  long long before = 0;
  long long set = 0;
};

struct SavedState {
  Identity agent = {}, guardian = {};
  std::string socket = {}, terms = {};  // empty if the agent serves no other programs
  std::map<pid_t, Identity> programs = {};
  std::map<pid_t, Kept> bound = {};  // by thread
  std::set<Identity> alone = {};
  std::map<std::string, KeptValue> values = {};  // by path

  // Applies one line. Returns false, without changes, for an invalid line.
  bool apply(std::string_view line);
  machine::CpuSet claims() const;
};

// Returns the bound thread from which a thread of this process has inherited `mask`: one of the
// same process, else of its parent, and so on. Returns null if the mask is not inherited. An equal
// mask alone proves nothing, because another program may have bound its threads to the same
// hardware threads.
const Kept* creator_of(const SavedState& kept, const ThreadMasks& masks, pid_t process,
                       const machine::CpuSet& mask);

std::string agent_line(const Identity& one);
std::string serves_line(std::string_view socket, std::string_view terms);
std::string guardian_line(const Identity& one);
std::string program_line(const Identity& one);
std::string alone_line(const Identity& one);
std::string back_line(const Identity& one);
std::string bind_line(const Kept& kept);
std::string value_line(const KeptValue& value);

// Reads all lines up to the first one that is damaged or incomplete: its change was not made.
SavedState read_kept_state(std::string_view text);

// Restores the masks of all bound threads, and of the threads and processes that they have created
// since. Leaves threads whose mask another program has changed. Returns the number of masks that it
// changed.
int restore(const SavedState& kept, ThreadMasks& masks);

}  // namespace huddle::threads
