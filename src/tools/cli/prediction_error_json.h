// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The error of the model in what `huddle bench --json` writes, of every kind.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/cli/prediction_error.h"

namespace huddle::cli {

// Where anything is known of it.
void add_prediction_error(nlohmann::ordered_json& document, const PredictionError& error);

}  // namespace huddle::cli
