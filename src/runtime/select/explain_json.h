// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Explanations and plans as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/select/candidate.h"
#include "runtime/select/explain.h"

namespace huddle::select {

// Returns an object of schema version 1, to which the command line adds members.
nlohmann::ordered_json explanation_object(const Explanation& explanation);

// Adds the members algorithm, piece_bytes and copy_method, as far as they are known.
void add_features(nlohmann::ordered_json& object, const PlanFeatures& plan);

}  // namespace huddle::select
