// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/cli/bench/bench_report.h"

namespace huddle::cli {

// The error of the model in what `huddle bench --json` writes, of every kind.

// Where anything is known of it.
void add_prediction_error(nlohmann::ordered_json& document, const PredictionError& error);

}  // namespace huddle::cli
