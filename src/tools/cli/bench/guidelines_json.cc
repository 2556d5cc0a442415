// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "huddle/huddle.h"
#include "model/machine/topology.h"
#include "tools/cli/bench/bench_json.h"
#include "tools/cli/bench/guidelines_report.h"
#include "tools/cli/document_json.h"

namespace huddle::cli {
namespace {

using bench::GuidelineResult;
using bench::GuidelineSide;
using bench::GuidelineVerdict;
using bench::Side;

Json side_json(const GuidelineSide& side) {
  Json json = {{"verdict", name(side.verdict)},
               {"call_ns", side.call_ns},
               {"mockup_ns", side.mockup_ns},
               {"estimate", estimate_json(side.estimate)}};
  if (side.again) json["again"] = estimate_json(*side.again);
  json["passed_calls"] = side.passed;
  json["call_batches_ns"] = side.samples.call_ns;
  json["mockup_batches_ns"] = side.samples.mockup_ns;
  return json;
}

Json point_json(const bench::GuidelinePoint& point) {
  return {{"guideline", text(point.guideline)},
          {"operation", name(point.guideline.operation)},
          {"bytes", point.bytes}};
}

Json result_json(const GuidelineResult& result) {
  Json json = point_json(result.point);
  for (const Side side : {Side::native, Side::huddle}) {
    json[std::string(name(side))] = side_json(result.of(side));
  }
  return json;
}

Json counts_json(const GuidelinesReport& report, GuidelineVerdict verdict) {
  Json json;
  for (const Side side : {Side::native, Side::huddle}) {
    json[std::string(name(side))] = report.measured.count(side, verdict);
  }
  return json;
}

Json settings_json(const GuidelinesReport& report) {
  Json json = {{"heap", report.in_heap},
               {"ops", report.ops},
               {"sizes", report.sizes},
               {"quick", report.quick},
               {"timing", name(report.timing)},
               {"point_seconds", report.effort.point_seconds},
               {"half_width", report.effort.half_width},
               {"confidence", bench::confidence},
               {"tolerance", report.tolerance}};
  if (!report.mpi.empty()) json["mpi"] = report.mpi;
  if (!report.mpi_library.empty()) json["mpi_library"] = report.mpi_library;
  return json;
}

}  // namespace

std::string guidelines_json(const GuidelinesReport& report) {
  Json root = json_document(guidelines_json_schema, "bench");
  root["what"] = "guidelines";
  root["huddle"] = huddle_version();
  root["machine"] = report.machine.name;
  root["fingerprint"] = fingerprint(report.machine.topology);
  root["machine_file"] = report.machine_file;
  root["calibrated"] = calibrated(report.machine);
  root["ranks"] = report.ranks;
  root["dry_run"] = report.dry_run;
  root["settings"] = settings_json(report);
  root["points"] = Json::array();
  if (report.dry_run) {
    for (const bench::GuidelinePoint& point : report.points) {
      root["points"].push_back(point_json(point));
    }
    return json_text(root);
  }
  root["mpi"] = {{"name", report.measured.mpi}, {"version", report.measured.version}};
  root["oversubscribed"] = report.measured.oversubscribed;
  root["interrupted"] = report.measured.interrupted;
  root["violated"] = counts_json(report, GuidelineVerdict::violated);
  root["open"] = counts_json(report, GuidelineVerdict::open);
  for (const GuidelineResult& result : report.measured.results) {
    root["points"].push_back(result_json(result));
  }
  return json_text(root);
}

}  // namespace huddle::cli
