// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// JSON that all kinds of `huddle bench` share.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/cli/bench/bench_report.h"

namespace huddle::cli {

// Adds the model's prediction error to the JSON of `huddle bench`, if it is known.
void add_prediction_error(nlohmann::ordered_json& document, const PredictionError& error);

nlohmann::ordered_json estimate_json(const bench::Estimate& estimate);

}  // namespace huddle::cli
