// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The common form of all --json output: one object on one line, which begins with the version of
// its schema and the command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "model/machine/machine.h"
#include "placement/mapping/mapping.h"

namespace huddle::cli {

using Json = nlohmann::ordered_json;  // keeps the order in which members are added

// Returns {"schema": ..., "command": ...}, to which the caller adds members.
Json json_document(int schema, std::string_view command);

// Returns one line. Replaces bytes that are not UTF-8, for example in paths and variables.
std::string json_text(const Json& document);

// Returns the parts of a predicted time and their sum. The time to wait for memory may be unknown.
Json time_json(const mapping::PredictedTime& time, bool knows_memory);

// Adds name, topology and all figures of a machine to a document, in the same form for every
// command. The keys are those of the machine file.
void add_machine(nlohmann::ordered_json& document, const machine::Machine& machine);

}  // namespace huddle::cli
