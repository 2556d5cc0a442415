// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle explain --from-run`: the results of trials that a program has stored, beside what huddle
// would have run by prediction alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/tuning_file.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/picture/picture.h"

namespace huddle::cli {

struct ExplainedTuning {
  mpi::StoredTuning stored;
  // The first choice by prediction for the largest size; without a value if only pairs of ranks
  // know the sizes.
  struct FirstChoice {
    std::string_view algorithm;
    double ns = 0;
  };
  std::optional<FirstChoice> predicted;
};

struct TuningExplained {
  std::string file;
  picture::Subject subject;  // the machine
  std::vector<ExplainedTuning> rows;
  std::vector<std::string> other_machines;  // those of the results that are not in rows
};

// Throws InputError if the file contains no results of trials.
TuningExplained tuning_explained(const Context& context, const picture::Subject& subject,
                                 const std::string& file);

std::string explain_tuning_text(const TuningExplained& explained, const Console& console);
std::string explain_tuning_json(const TuningExplained& explained);

}  // namespace huddle::cli
