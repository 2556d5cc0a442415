// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a program's file says about itself, as far as preloading depends on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::launch {

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

}  // namespace huddle::launch
