// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle paths` has to say, and its two ways of saying it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace huddle::cli {

// One way of a message inside the node.
struct Way {
  std::string name;
  double ns = 0;
};

// The path into a peer's memory that UCX takes by the constants that it has from this version on.
struct Taken {
  std::string from_version;  // "1.14"
  std::string way;
  double ns = 0;  // as measured
};

struct PathPoint {
  double bytes = 0;
  std::vector<Way> ways;
  std::size_t fastest = 0;  // among them
  std::vector<Taken> ucx;   // none where the machine has no path that UCX chooses among
};

struct Paths {
  std::string machine;
  std::string machine_file;
  bool is_measured = false;
  int ranks = 1;
  std::vector<PathPoint> points;
};

std::string paths_text(const Paths& paths, int columns);
std::string paths_json(const Paths& paths);

}  // namespace huddle::cli
