// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The file in which HUDDLE_TUNE=FILE.json keeps the results of trials from one run to the next.
#pragma once

#include <string>
#include <vector>

#include "runtime/team/tuning_history.h"

namespace huddle::mpi {

// The conditions under which results of trials are comparable. A file may contain those of several.
struct TuningConditions {
  std::string mpi;     // name and version
  std::string huddle;  // version
  std::string machine;
  std::string figures;  // digest of the machine file
  bool has_heap = false;

  bool operator==(const TuningConditions&) const = default;
};

struct StoredTuning {
  TuningConditions conditions;
  team::TuningHistory::Key key;
  team::TuningRecord record;
};
// Returns the records of all conditions, in the order of the file, or none if the file does not
// exist. Ignores records of operations, algorithms and copy methods that this version does not
// have. Throws InputError if the file cannot be read or contains something else.
std::vector<StoredTuning> stored_tunings(const std::string& path);

// The same, but returns only the records of these conditions.
team::TuningHistory::Records read_tuning_file(const std::string& path,
                                              const TuningConditions& conditions);
// Adds the records to the file, or replaces those of the same calls. Throws InputError if the file
// contains something else, and FailureError if it cannot be written.
void write_tuning_file(const std::string& path, const TuningConditions& conditions,
                       const team::TuningHistory::Records& records);

}  // namespace huddle::mpi
