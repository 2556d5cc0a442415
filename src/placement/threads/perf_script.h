// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Samples of memory accesses that `perf mem record` has taken on a machine whose processor counts
// them, as `perf script` prints them: read as touches.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/recording.h"

namespace huddle::threads {

struct PerfSamples {
  // Of each thread a look every so often: its samples stand for the processor time that it used,
  // and the last one says where it ran.
  Recording recording;
  std::vector<std::size_t> bad_lines;  // their numbers: no samples, or cut off
  std::size_t other = 0;               // samples without an address of the program's own memory
};

// Lines as by `perf script -F comm,pid,tid,cpu,time,event,addr,data_src`:
//   app  4711/4713  [003]  12.345678:  cpu/mem-stores/P:  7f2a40001040  5080144 |OP STORE|LVL L1
//   hit
// Whether it is a load or a store is said by the data source, else by the event's name.
//
// Throws InputError "FILE:LINE: what is wrong" where not one line is a sample.
PerfSamples parse_perf_script(std::string_view text, const std::string& name);
PerfSamples read_perf_script(const std::string& path);

// "no samples, or cut off: 2 lines, by number 4, 9", and what was left out; empty where all was
// read.
std::vector<std::string> notes_of(const PerfSamples& samples);

}  // namespace huddle::threads
