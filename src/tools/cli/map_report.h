// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle map` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/mapping/comm_matrix.h"
#include "placement/mapping/mapping.h"
#include "placement/mapping/method.h"
#include "tools/cli/console.h"

namespace huddle::cli {

inline constexpr int map_json_schema = 1;

// One way of placing everybody.
struct Placed {
  std::string method;
  place::Mapped mapped;
  place::Quality quality;
  double took_ms = 0;
  std::optional<double> memory_gb_per_s = {};  // that the elements can use in this placement
};

// Memory bandwidth in GB/s, by the copy curves of the machine file; nothing if it has none.
struct Bandwidth {
  std::optional<double> before;    // in the present placement
  std::optional<double> balanced;  // if sockets and NUMA nodes get equal numbers of elements
  std::optional<double> all;       // if every core of these nodes copies
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
  Bandwidth bandwidth = {};
};

// Returns the share of hop-bytes that a placement saves; 0 if there were none.
double gain(const MapSubject& subject, const Placed& placed);
// Returns the part of that share which chance in sampled events does not explain.
double certain_gain(const MapSubject& subject, const Placed& placed);

// Returns whether the events behind the matrix justify looking for a placement at all.
place::Finding finding_of(const MapSubject& subject);

struct MapVerdict {
  bool moves = false;
  std::string text;  // "37.0 % of the hop-bytes saved", "leave it as it is: ..."
};
MapVerdict verdict_on(const MapSubject& subject, const Placed& placed);

// Returns why the events do not suffice; empty if they do.
std::string evidence_text(const MapSubject& subject);

// Returns a warning if the placement cannot use memory bandwidth that a balanced one could; empty
// otherwise.
std::string bandwidth_warning(const MapSubject& subject, const Placed& placed);

std::string percent_text(double share);
std::string bandwidth_text(double gb_per_s);

std::string map_text(const MapSubject& subject, const Placed& placed, const Console& console);
std::string map_json(const MapSubject& subject, const Placed& placed);
std::string map_compare_text(const MapSubject& subject, const std::vector<Placed>& all,
                             const Console& console);
std::string map_compare_json(const MapSubject& subject, const std::vector<Placed>& all);

}  // namespace huddle::cli
