// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Files with the observed events of a program, from which the agent's decisions can be reproduced.
//
// The file contains lines of text: a header, "names" followed by the names of the threads, "m LINE"
// for each line of the machine file of the machine on which the program ran, then, ordered by time,
// "t TIME_NS THREAD PAGE w|r" for a touch (PAGE in hexadecimal) and "l TIME_NS
// THREAD:CPU_NS:PROCESSOR[:BYTES] ..." for a look, which is the state of all threads at that time.
// BYTES is the memory traffic of the thread, if the hardware counts it. A line "r THREAD ..."
// before a look contains the numbers that belong to other threads since the look before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/touch.h"

namespace huddle::threads {

struct Recording {
  std::uint32_t page_bytes = 4096;
  std::vector<std::string> names;  // by thread
  Events events;
  Rounds rounds = Rounds::of_decisions;  // setting of the observer
  // The text of the machine file of the machine whose hardware threads the events name. Empty if it
  // is unknown, as in recordings of huddle 0.1.0 and in samples of perf.
  std::string machine = {};
};

// The largest recording that is read: ten seconds at the maximum event rate of a hundred hardware
// threads.
inline constexpr std::size_t most_recording_bytes = std::size_t{512} << 20U;

std::string format_recording(const Recording& recording);

// Writes the text of a recording while its events arrive.
class RecordingWriter {
 public:
  // Writes everything of `start` but its names. Leaves out all further events once the text would
  // exceed `most_bytes`. Requires: room for the names of most_threads threads.
  RecordingWriter(const Recording& start, std::size_t most_bytes);

  void take(const Touch& touch);
  void take(const Look& look);
  // Returns the time of the first event that was left out.
  std::optional<std::uint64_t> cut_ns() const { return cut_ns_; }
  // Returns the text. `names`: by thread.
  std::string text(const std::vector<std::string>& names) &&;

 private:
  template <typename Event>
  void append_if_it_fits(const Event& event);

  std::string text_;
  std::size_t names_at_ = 0;  // position of the names, which are known last
  std::size_t most_bytes_;
  std::optional<std::uint64_t> cut_ns_;
};

// Throws InputError "FILE:LINE: message" if the file is invalid.
Recording read_recording(const std::string& path);
// Parses text. `name` takes the place of the file name in errors.
Recording parse_recording(std::string_view text, const std::string& name);

// Samples of memory accesses by `perf mem record`, on a machine whose CPU supports it, converted
// from the output of `perf script` to touches.
struct PerfSamples {
  // Contains a look at regular intervals: the CPU time of a thread is estimated from its number of
  // samples, and its hardware thread is that of its last sample.
  Recording recording;
  std::vector<std::size_t> bad_lines;  // line numbers that are not samples or are truncated
  std::size_t other = 0;               // samples without an address of the program's own memory
};

// Parses the output of `perf script -F comm,pid,tid,cpu,time,event,addr,data_src`:
//   app  4711/4713  [003]  12.345678:  cpu/mem-stores/P:  7f2a40001040  5080144 |OP STORE|LVL L1
//   hit
// The data source determines whether a sample is a load or a store, or else the name of the event.
//
// Throws InputError "FILE:LINE: message" if no line is a sample.
PerfSamples parse_perf_script(std::string_view text, const std::string& name);
PerfSamples read_perf_script(const std::string& path);

// Returns notes on the lines and samples that were left out, such as "no samples, or cut off: 2
// lines, by number 4, 9". Empty if all were used.
std::vector<std::string> notes_of(const PerfSamples& samples);

}  // namespace huddle::threads
