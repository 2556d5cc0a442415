// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>
#include <string>

#include "tools/cli/document_json.h"
#include "tools/cli/topo/topo_report.h"
#include "tools/picture/facts.h"

namespace huddle::cli {

std::string topo_json(const picture::Subject& subject) {
  Json document = json_document(topo_json_schema, "topo");
  document["machine_file"] = subject.path.empty() ? Json(nullptr) : Json(subject.path);
  document["allowed"] = subject.allowed ? Json(subject.allowed->cpus()) : Json(nullptr);
  add_machine(document, subject.machine);
  document["differences"] = picture::latency_differences(subject.machine);
  return json_text(document);
}

}  // namespace huddle::cli
