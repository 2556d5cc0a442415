// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A machine as JSON, the same in every command that prints one. Figures have the keys of the
// machine file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/machine/machine.h"
#include "tools/cli/document_json.h"

namespace huddle::cli {

// Adds name, topology and every figure to a document.
void add_machine(nlohmann::ordered_json& document, const machine::Machine& machine);

}  // namespace huddle::cli
