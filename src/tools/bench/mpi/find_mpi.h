// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From a launcher to the MPI that it belongs to: the library that ranks open, and its family.
#pragma once

#include <string>
#include <vector>

namespace huddle::bench {

struct Mpi {
  std::string name;                   // for people and tables
  std::vector<std::string> launcher;  // its words
  // Files or names for the loader, between colons: the first that can be opened is it.
  std::string library;
  std::string abi;  // as huddle's back ends are called
};

// launcher: words between spaces; empty: the first one on the PATH. library: the file, where
// the user says it. Throws UsageError where there is none.
Mpi find_mpi(const std::string& launcher, const std::string& library,
             const std::string& search_path);

// All that bench/peers has set up in this folder. Throws UsageError where there is none.
std::vector<Mpi> find_peers(const std::string& folder);

}  // namespace huddle::bench
