// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle run --threads`: the agent that watches a program, and may move its threads, is a process
// beside it that was there before it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/file_descriptor.h"
#include "placement/threads/numa_balancing.h"
#include "placement/threads/seats.h"
#include "placement/threads/touch_table.h"
#include "tools/cli/command.h"

namespace huddle::cli {

struct AgentRequest {
  bool moves = false;
  threads::Binding binding = threads::Binding::group;
  bool splits_huge = false;    // pages that are looked at
  bool allows_sysctl = false;  // NUMA balancing may be turned on
  bool tells = false;          // at the program's end, on standard error, what was seen and done
  std::string title;           // what the program is called there
  std::string library;         // what is preloaded; empty: it is not there
};

struct StartedAgent {
  std::string note = {};      // why there is none: a sentence
  std::string preload = {};   // what the program has to have preloaded
  std::string variable = {};  // "NAME=VALUE" for its environment
  // It has to be open until this process becomes the program, and closes by that.
  FileDescriptor until_exec = {};
};

// For this process, which is about to become the program.
StartedAgent start_agent(const Context& context, const AgentRequest& request);

// --bind, of a command that moves threads when `option` is given.
void declare_binding(Options& options, std::string& word, const std::string& option);
// --split-huge, of a command that watches a program from its start.
void declare_split_huge(Options& options, bool& splits, const std::string& when);
// --allow-sysctl, of a command that watches threads.
void declare_allow_sysctl(Options& options, bool& allows, const std::string& when);
// Null where it is not asked for. Throws FailureError where it cannot be.
std::unique_ptr<threads::NumaBalancing> balancing_if(bool allowed);
// How an agent has to count who is told by that.
threads::Rounds rounds_if(bool balancing);
// Throws UsageError for another word.
threads::Binding binding_named(const std::string& word);

}  // namespace huddle::cli
