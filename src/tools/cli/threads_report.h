// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is said of a program's threads: by `huddle profile` at the end, by `huddle watch` as it
// goes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "placement/mapping/comm_matrix.h"
#include "placement/threads/agent.h"
#include "placement/threads/playback.h"
#include "placement/threads/recording.h"
#include "placement/threads/session.h"
#include "tools/cli/console.h"

namespace huddle::cli {

// Of a recording, or of a program that was watched to its end.
struct ThreadsSubject {
  std::string command;       // "profile" or "watch"
  std::string title;         // the program or the file
  std::string machine;       // its name
  place::CommMatrix matrix;  // of the threads at work
  std::vector<int> threads;  // their numbers
  std::vector<threads::Decision> decisions;
  std::uint64_t touches = 0;
  std::uint64_t replaced = 0;      // pages that lost their entry in the table to another
  std::vector<std::string> notes;  // what was not seen, and why
  std::optional<threads::Unobserved> unobserved = {};  // of a program that huddle has started
  bool moves = false;                                  // decisions were carried out
  std::optional<threads::Playback> playback;
};

// Returns everything that the agent has counted between these threads, with the events behind it.
place::CommMatrix threads_matrix(const threads::Agent& agent, const std::vector<int>& threads,
                                 const std::vector<std::string>& names, std::uint32_t page_bytes);

// Who shares pages with whom, as a square of shades with the threads' numbers.
std::string sharing_text(const place::CommMatrix& matrix, std::span<const int> threads,
                         const Console& console);
// "0.40 s  do nothing: ...", with equal ones in a row put together.
std::string decisions_text(const std::vector<threads::Decision>& decisions, const Console& console);
// A row of each placement: predicted communication time, and in parts of that by number.
std::string playback_text(const threads::Playback& playback, const Console& console);
std::string threads_text(const ThreadsSubject& subject, const Console& console);
// For `huddle report` as well: `machine` is the one that was decided for.
std::string threads_json(const ThreadsSubject& subject, const machine::Machine& machine);

// Returns which accesses were not observed, and how much memory that concerns.
std::string unobserved_text(const threads::Unobserved& unobserved);

// "watching took 1.3 % of ...".
std::string cost_text(const threads::Watched& watched);

}  // namespace huddle::cli
