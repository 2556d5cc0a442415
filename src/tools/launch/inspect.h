// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Can a library be preloaded into a program, and has it an MPI to be taken over?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// What a program's file says about itself, as far as preloading depends on it.
struct Elf {
  bool like_us = false;                  // word size and processor are those of this program
  std::string interpreter = {};          // its loader; empty: linked statically
  std::vector<std::string> needed = {};  // the libraries that it names itself
  std::string symbols = {};              // names that it takes or gives, each between two NULs
};

// Nothing for a file that is no program in this format: a script, or what cannot be read. Of a
// program for other processors only `like_us` is told.
std::optional<Elf> read_elf(const std::string& path);

// The name is among its symbols.
bool names_symbol(const Elf& elf, std::string_view symbol);

// The file brings a function or object of this name itself, for others or for itself only. False
// where that has been stripped from it, and for what read_elf() does not read.
bool defines_symbol(const std::string& path, std::string_view symbol);

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
