// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Determines whether a library can be preloaded into a program and whether it uses an MPI.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

// The contents of a program's file that matter for preloading.
struct Elf {
  bool like_us = false;                  // has the word size and processor of this program
  std::string interpreter = {};          // its dynamic loader; empty if it is linked statically
  std::vector<std::string> needed = {};  // libraries on which it depends directly (DT_NEEDED)
  std::string symbols = {};  // names of imported and exported symbols, each between two NULs
};

// Reads a program's file. Returns none if it is not an ELF program: a script or an unreadable file.
// For a program of another processor only `like_us` is set.
std::optional<Elf> read_elf(const std::string& path);

// Returns whether `symbol` is among the program's symbols.
bool names_symbol(const Elf& elf, std::string_view symbol);

// Returns whether the file defines a function or object of this name, exported or local. False for
// stripped symbols and for files that read_elf() does not read.
bool defines_symbol(const std::string& path, std::string_view symbol);

// Returns whether the file contains the text, of at most a few hundred bytes. Only the first 64 MiB
// are searched.
bool has_text(const std::string& path, std::string_view text);

enum class Obstacle {
  none,           // or not detectable in advance: scripts load an MPI later
  linked_static,  // there is no loader that could preload anything
  inner_mpi,      // its MPI is linked into it, so preloaded functions are not called
  other_machine,  // built for another word size or processor
  privileged,     // changes user or gains privileges: the loader ignores LD_PRELOAD
  no_mpi,         // neither loads an MPI library nor can open one or start a program
};

// Returns what keeps huddle from working in the program at `path`.
// Requires: `path` can be executed.
Obstacle obstacle_in(const std::string& path);

// Returns whether the program can run another program, like launchers and shells.
bool may_start_others(const std::string& path);

// Returns a sentence with the obstacle and its consequence.
// Requires: `obstacle` is not `none`.
std::string sentence(Obstacle obstacle, const std::string& path);

}  // namespace huddle::launch
