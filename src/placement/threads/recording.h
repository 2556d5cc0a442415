// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What was seen of a program, kept in a file: what the agent decides can be had again from it.
//
// Lines of text: a head, "names" with the threads' names in their order, then in the order of time
// "t TIME_NS THREAD PAGE w|r" for a touch (the page in hexadecimal) and
// "l TIME_NS THREAD:CPU_NS:PROCESSOR ..." for a look.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/touch.h"

namespace huddle::threads {

struct Recording {
  std::uint32_t page_bytes = 4096;
  std::vector<std::string> names;  // by thread
  Events events;
  Rounds rounds = Rounds::of_decisions;  // of whoever has watched
};

std::string format_recording(const Recording& recording);

// Throws InputError "FILE:LINE: what is wrong".
Recording read_recording(const std::string& path);
// The same from text; `name` stands where the file's name would in errors.
Recording parse_recording(std::string_view text, const std::string& name);

// Samples of memory accesses that `perf mem record` has taken on a machine whose processor counts
// them, as `perf script` prints them: read as touches.
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
