// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/document_json.h"

#include <nlohmann/json.hpp>

namespace huddle::cli {

Json json_document(int schema, std::string_view command) {
  return {{"schema", schema}, {"command", command}};
}

std::string json_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace huddle::cli
