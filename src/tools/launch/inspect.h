// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Can a library be preloaded into a program, and has it an MPI to be taken over?
#pragma once

#include <string>

namespace huddle::launch {

enum class Obstacle {
  none,           // or nothing that can be told beforehand: scripts load an MPI late
  linked_static,  // it has no loader that could preload anything
  inner_mpi,      // its MPI is linked into it: its calls do not pass by anything preloaded
  other_machine,  // built for another word size or processor
  privileged,     // changes user or gains rights: the loader ignores what is preloaded
  no_mpi,         // neither loads an MPI library, nor could it open one or start a program
};

// pre: `path` can be executed.
Obstacle obstacle_in(const std::string& path);

// It can run another program in its stead or beside it, as launchers and shells do.
bool may_start_others(const std::string& path);

// A sentence for it: what is so, and what follows. pre: it is not `none`.
std::string sentence(Obstacle obstacle, const std::string& path);

}  // namespace huddle::launch
