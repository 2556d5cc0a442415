// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What was seen of a program, kept in a file: what the agent decides can be had again from it.
//
// Lines of text: a head, "names" with the threads' names in their order, then in the order of time
// "t TIME_NS THREAD PAGE w|r" for a touch (the page in hexadecimal) and
// "l TIME_NS THREAD:CPU_NS:PROCESSOR ..." for a look.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/threads/touch.h"
#include "placement/threads/touch_table.h"

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

}  // namespace huddle::threads
