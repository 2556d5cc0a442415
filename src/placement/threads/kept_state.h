// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What has to be given back: which threads an agent has bound, and what they had, and what it has
// set of the kernel's. Kept as lines of text that are only ever added to, each before the change
// that it tells of, so that whoever comes after an agent that was killed at any moment knows what
// to undo:
//
//   agent PID BORN            who binds
//   serves SOCKET TERMS       programs of these terms may be handed over to that agent there
//   guardian PID BORN         who gives back when the agent is gone
//   program PID BORN          a process whose threads are bound
//   bind TID BORN PID ORIGINAL BEFORE NEW CLAIM
//                             masks as in 0-3,8; BEFORE: until now, which is ORIGINAL or what an
//                             earlier line has set; CLAIM: the processor that it is for
//   alone TID BORN            bound by somebody else: not ours to change
//   back TID BORN             given back
//   value PATH BEFORE SET     a number of the kernel's: what it was before any agent has set it
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "placement/threads/thread_masks.h"

namespace huddle::threads {

// Whole numbers that the kernel has as files, in /proc/sys and in debugfs.

// Nothing where there is none, or where it may not be read.
std::optional<long long> kernel_value(const std::string& path);
// False where it is not that afterwards: errno says why, as far as the kernel does.
bool set_kernel_value(const std::string& path, long long value);

struct Kept {
  Identity thread = {};
  pid_t process = 0;
  machine::CpuSet original = {};
  machine::CpuSet before = {};  // until this was set
  machine::CpuSet set = {};
  int claim = -1;

  // It is huddle that has set this mask: the last one, or the one before, since whoever has written
  // the line may have been killed before he did what it tells of.
  bool has_set(const machine::CpuSet& mask) const {
    return mask != original && (mask == set || mask == before);
  }
};

// A whole number that the kernel has as a file.
struct KeptValue {
  std::string path = {};
  long long before = 0;
  long long set = 0;
};

struct KeptState {
  Identity agent = {}, guardian = {};
  std::string socket = {}, terms = {};  // empty: it serves nobody else
  std::map<pid_t, Identity> programs = {};
  std::map<pid_t, Kept> bound = {};  // by thread
  std::set<Identity> alone = {};
  std::map<std::string, KeptValue> values = {};  // by path

  // False for a line that is none of these: nothing is changed.
  bool apply(std::string_view line);
  machine::CpuSet claims() const;
};

// The one that is bound whose mask a thread of this process has inherited: one of the same process,
// else of that one's parent, and so on. Null: what it has is its own. Another program may have
// bound its threads to the same processors.
const Kept* creator_of(const KeptState& kept, const ThreadMasks& masks, pid_t process,
                       const machine::CpuSet& mask);

std::string agent_line(const Identity& one);
std::string serves_line(std::string_view socket, std::string_view terms);
std::string guardian_line(const Identity& one);
std::string program_line(const Identity& one);
std::string alone_line(const Identity& one);
std::string back_line(const Identity& one);
std::string bind_line(const Kept& kept);
std::string value_line(const KeptValue& value);

// Up to the first line that is damaged or has no end: what it tells of has not been done.
KeptState read_kept_state(std::string_view text);

// Gives all threads what they had, and their heirs as well: threads and processes that they have
// started meanwhile. Leaves those that somebody else has changed since. How many it changed.
int give_back(const KeptState& kept, ThreadMasks& masks);

}  // namespace huddle::threads
