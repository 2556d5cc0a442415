// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An explanation as JSON, to which the command line adds members.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "runtime/select/explain.h"

namespace huddle::select {

// Returns an object of schema version 1.
nlohmann::ordered_json explanation_object(const Explanation& explanation);

}  // namespace huddle::select
