// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "tools/cli/bench_compare.h"
#include "tools/cli/bench_mpi.h"

namespace huddle::cli {
namespace {

using SortedJson = nlohmann::json;

SortedJson parsed(const std::string& path) {
  const std::string text = read_text(path);
  if (text.find_first_not_of(" \n") == std::string::npos) {
    throw InputError(path + ": there is nothing in it; was the benchmark stopped?");
  }
  try {
    return SortedJson::parse(text);
  } catch (const SortedJson::parse_error& error) {
    throw InputError(fmt::format("{}: this is not whole JSON, at byte {}", path, error.byte));
  }
}

void refuse_others(const SortedJson& document, const std::string& path) {
  const auto is = [&document](const char* key, const SortedJson& value) {
    return document.is_object() && document.contains(key) && document[key] == value;
  };
  if (!is("command", "bench") || !is("what", "mpi")) {
    throw InputError(path + ": this is not what 'huddle bench --json FILE' writes of an MPI");
  }
  if (!is("schema", bench_mpi_json_schema)) {
    throw InputError(fmt::format("{}: its schema is not {}, the one that is known here", path,
                                 bench_mpi_json_schema));
  }
}

// What cannot be compared is none.
bench::Estimate estimate_from(const SortedJson& json) {
  const bench::Estimate estimate{json.at("ratio").get<double>(), json.at("low").get<double>(),
                                 json.at("high").get<double>(),
                                 json.at("batches").get<std::size_t>()};
  if (!(estimate.low > 0 && estimate.low <= estimate.ratio && estimate.ratio <= estimate.high)) {
    throw InputError("an estimate has no ratio between low and high");
  }
  return estimate;
}

MeasuredPoint point_from(const SortedJson& json) {
  return {json.at("operation").get<std::string>(), json.at("bytes").get<std::size_t>(),
          json.at("rival").get<std::string>(), json.at("huddle_ns").get<double>(),
          estimate_from(json.at("estimate"))};
}

MeasuredRun run_from(const SortedJson& document, const std::string& path) {
  MeasuredRun run{
      path,
      document.at("machine").get<std::string>(),
      document.at("huddle").get<std::string>(),
      document.at("under").get<std::string>(),
      document.at("ranks").get<int>(),
      document.value(SortedJson::json_pointer("/settings/timing"), MeasuredRun().timing),
      {},
      {}};
  for (const SortedJson& mpi : document.at("mpis"))
    run.mpis.push_back(mpi.at("name").get<std::string>());
  for (const SortedJson& point : document.at("points")) run.points.push_back(point_from(point));
  return run;
}

}  // namespace

MeasuredRun read_measured_run(const std::string& path) {
  const SortedJson document = parsed(path);
  refuse_others(document, path);
  try {
    return run_from(document, path);
  } catch (const SortedJson::exception& error) {
    throw InputError(
        fmt::format("{}: something is missing or of another kind: {}", path, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace huddle::cli
