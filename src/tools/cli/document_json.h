// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What every --json has in common: one object on one line, which opens with the version of its own
// schema and the command whose answer it is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "model/machine/machine.h"

namespace huddle::cli {

using Json = nlohmann::ordered_json;  // keeps the order in which members are added

// {"schema": ..., "command": ...}, to be added to; keeps the order in which things are added.
Json json_document(int schema, std::string_view command);

// One line, as a program expects it. What is not UTF-8 (paths, values of variables) is replaced.
std::string json_text(const Json& document);

// A machine as JSON, the same in every command that prints one. Figures have the keys of the
// machine file.

// Adds name, topology and every figure to a document.
void add_machine(nlohmann::ordered_json& document, const machine::Machine& machine);

}  // namespace huddle::cli
