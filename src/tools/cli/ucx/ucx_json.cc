// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "common/arithmetic.h"
#include "huddle/huddle.h"
#include "tools/cli/document_json.h"
#include "tools/cli/ucx/ucx_report.h"

namespace huddle::cli {
namespace {

using nlohmann::ordered_json;

constexpr int ucx_json_schema = 1;
constexpr int check_schema = 2;  // from 2 on "runs" is a list, by ranks

ordered_json json_of(const std::vector<ucx::Setting>& settings) {
  ordered_json list = ordered_json::array();
  for (const ucx::Setting& one : settings) {
    list.push_back({{"name", one.name},
                    {"value", one.value},
                    {"figure", one.figure},
                    {"replaces", one.replaces},
                    {"reason", one.reason}});
  }
  return list;
}

void add_advice(ordered_json& document, const UcxAdvice& given) {
  document["huddle"] = huddle_version();
  document["machine"] = given.heading.machine;
  document["version"] = ucx::text_of(given.heading.version);
  document["ranks_per_node"] = given.heading.ranks;
  document["doubt"] = given.heading.doubt;
  document["settings"] = json_of(given.advice.settings);
  document["untested"] = json_of(given.advice.untested);
  ordered_json omitted = ordered_json::array();
  for (const ucx::Omitted& one : given.advice.omitted) {
    omitted.push_back({{"name", one.name}, {"why", one.why}});
  }
  document["omitted"] = std::move(omitted);
}

ordered_json json_of(const std::vector<ucx::Selection>& selections) {
  ordered_json list = ordered_json::array();
  for (const ucx::Selection& selection : selections) {
    ordered_json ranges = ordered_json::array();
    for (const ucx::Range& range : selection.ranges) {
      ordered_json lanes = ordered_json::array();
      for (const ucx::Lane& lane : range.lanes) {
        lanes.push_back(
            {{"transport", lane.transport}, {"device", lane.device}, {"share", lane.share}});
      }
      ranges.push_back({{"from_bytes", range.from_bytes},
                        {"protocol", range.protocol},
                        {"lanes", std::move(lanes)}});
    }
    list.push_back({{"call", selection.call}, {"ranges", std::move(ranges)}});
  }
  return list;
}

ordered_json json_of(const std::vector<Stray>& strays) {
  ordered_json list = ordered_json::array();
  for (const Stray& stray : strays) {
    list.push_back({{"transport", stray.lane.transport},
                    {"device", stray.lane.device},
                    {"share", stray.lane.share},
                    {"from_bytes", stray.from_bytes},
                    {"call", stray.call}});
  }
  return list;
}

ordered_json json_of(const UcxRuns& runs) {
  ordered_json points = ordered_json::array();
  for (const UcxRun& run : runs.runs) {
    points.push_back({{"operation", name(run.point.operation)},
                      {"bytes", run.point.bytes},
                      {"without_ns", run.before_ns},
                      {"with_ns", run.after_ns},
                      {"ratio", run.estimate.ratio},
                      {"low", run.estimate.low},
                      {"high", run.estimate.high},
                      {"batches", run.estimate.batches},
                      {"huddle_ns", run.huddle_ns},
                      {"huddle_ratio", run.huddle_estimate.ratio},
                      {"huddle_low", run.huddle_estimate.low},
                      {"huddle_high", run.huddle_estimate.high},
                      {"sent_without", run.before},
                      {"sent_with", run.after}});
  }
  ordered_json dropped = ordered_json::array();
  for (const ucx::Omitted& one : runs.dropped) {
    dropped.push_back({{"name", one.name}, {"why", one.why}});
  }
  return {{"mpi", runs.mpi},
          {"mpi_version", runs.version},
          {"ranks", runs.ranks},
          {"oversubscribed", runs.oversubscribed},
          {"points", std::move(points)},
          {"dropped", std::move(dropped)}};
}

ordered_json json_of(const UcxProgramRuns& program) {
  const bench::Estimate ratio = program.runs.speedup();
  return {{"without_seconds", program.runs.of(bench::Side::native).wall_seconds},
          {"with_seconds", program.runs.of(bench::Side::huddle).wall_seconds},
          {"ratio", ratio.ratio},
          {"low", ratio.low},
          {"high", ratio.high},
          {"sent_without", program.before},
          {"sent_with", program.after}};
}

}  // namespace

std::string ucx_json(const UcxAdvice& given) {
  ordered_json document = json_document(ucx_json_schema, "ucx");
  add_advice(document, given);
  return json_text(document);
}

std::string ucx_check_json(const UcxCheck& check) {
  ordered_json document = json_document(check_schema, "ucx --check");
  add_advice(document, check.given);
  document["now"] = json_of(check.now);
  document["advised"] = json_of(check.advised);
  document["complaints"] = check.complaints;
  document["network_now"] = json_of(strays_of(check.now, check.devices));
  document["network_advised"] = json_of(strays_of(check.advised, check.devices));
  ordered_json runs = ordered_json::array();
  for (const UcxRuns& one : check.runs) runs.push_back(json_of(one));
  document["runs"] = std::move(runs);
  document["program"] = check.program_runs ? json_of(*check.program_runs) : ordered_json();
  return json_text(document);
}

namespace {

constexpr int paths_json_schema = 1;

}  // namespace

std::string paths_json(const Paths& paths) {
  ordered_json document = json_document(paths_json_schema, "paths");
  document["huddle"] = huddle_version();
  document["machine"] = paths.machine;
  document["machine_file"] = paths.machine_file;
  document["measured"] = paths.is_measured;
  document["ranks"] = paths.ranks;
  ordered_json points = ordered_json::array();
  for (const PathPoint& point : paths.points) {
    ordered_json ways = ordered_json::array();
    for (const Way& way : point.ways) {
      ways.push_back({{"path", way.name},
                      {"ns", way.ns},
                      {"gb_per_s", point.bytes / way.ns},
                      {"score", ns_per_s / way.ns}});
    }
    ordered_json ucx = ordered_json::array();
    for (const Taken& taken : point.ucx) {
      ucx.push_back({{"from_version", taken.from_version}, {"path", taken.way}, {"ns", taken.ns}});
    }
    points.push_back({{"bytes", point.bytes},
                      {"paths", std::move(ways)},
                      {"fastest", point.ways[point.fastest].name},
                      {"ucx", std::move(ucx)}});
  }
  document["points"] = std::move(points);
  return json_text(document);
}

}  // namespace huddle::cli
