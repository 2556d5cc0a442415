// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle map` prints.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "place/comm_matrix.h"
#include "place/mapping.h"
#include "place/method.h"

namespace huddle::cli {

inline constexpr int map_json_schema = 1;

// One way of placing everybody.
struct Placed {
  std::string method;
  place::Mapped mapped;
  place::Quality quality;
  double took_ms = 0;
};

// What all ways are about. Keeps references.
struct MapSubject {
  std::string path;  // of the matrix
  const place::CommMatrix& matrix;
  const place::Problem& problem;
  place::Quality before;
  std::string machine;                  // its name
  std::vector<std::string> notes;       // how far figures may be trusted, what was left out
  double least_gain = 0;                // of hop-bytes; below that nobody should move
  std::vector<std::string> hosts = {};  // by node; empty: they have no names
};

// The share of hop-bytes that a placement saves; 0 where there were none.
double gain(const MapSubject& subject, const Placed& placed);
bool is_worth_it(const MapSubject& subject, const Placed& placed);

std::string map_text(const MapSubject& subject, const Placed& placed, const Console& console);
std::string map_json(const MapSubject& subject, const Placed& placed);
std::string map_compare_text(const MapSubject& subject, const std::vector<Placed>& all,
                             const Console& console);
std::string map_compare_json(const MapSubject& subject, const std::vector<Placed>& all);

}  // namespace huddle::cli
