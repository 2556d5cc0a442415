// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/prediction_error_json.h"

#include <nlohmann/json.hpp>

namespace huddle::cli {

void add_prediction_error(nlohmann::ordered_json& document, const PredictionError& error) {
  if (error.points == 0) return;
  document["model_error"] = {{"points", error.points},
                             {"median_times_off", error.median_times_off},
                             {"mispredicted", error.mispredicted},
                             {"mispredicted_from", mispredicted_from}};
}

}  // namespace huddle::cli
