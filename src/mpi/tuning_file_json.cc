// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/tuning_file.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "mpi/stats.h"
#include "runtime/memory/copy_method.h"
#include "runtime/select/candidate.h"
#include "runtime/select/explain_json.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {
namespace {

using Json = nlohmann::ordered_json;
using team::Implementation;
using team::TuningHistory;
using team::TuningRecord;

constexpr int schema = 1;
constexpr std::string_view command = "tune";

// Returns the list of results, which is empty if the file does not exist.
Json results_in(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return Json::array();
  const Json document = Json::parse(read_text(path), nullptr, /*allow_exceptions=*/false);
  const bool is_ours = document.is_object() && document.value("command", Json()) == command &&
                       document.value("results", Json()).is_array();
  if (!is_ours) {
    throw InputError(
        fmt::format("{} does not contain results of trials; HUDDLE_TUNE needs the name of a new "
                    "file, or of one that it has written",
                    path));
  }
  if (document.value("schema", Json()) != schema) {
    throw InputError(
        fmt::format("{} was written by another version of huddle; remove the file", path));
  }
  return document["results"];
}

template <class Names>
std::optional<std::size_t> position(const Names& names, const Json& name) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& one) { return Json(one) == name; });
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

constexpr auto copy_method_names = [] {
  std::array<std::string_view, memory::copy_methods.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = memory::copy_methods[i].name;
  return names;
}();

// Thrown for a result with a value that huddle does not write.
struct WrongValue {};

std::uint64_t number_of(const Json& value, std::uint64_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) throw WrongValue();
  return value.get<std::uint64_t>();
}

template <class Number>
Number number_in(const Json& result, std::string_view member) {
  return static_cast<Number>(number_of(result.at(member), std::numeric_limits<Number>::max()));
}

std::vector<int> cpus_in(const Json& result) {
  std::vector<int> cpus;
  for (const Json& cpu : result.at("cpus"))
    cpus.push_back(static_cast<int>(number_of(cpu, INT_MAX)));
  return cpus;
}

// Returns nothing if this version does not know the plan.
std::optional<select::PlanFeatures> plan_in(const Json& result) {
  select::PlanFeatures plan;
  if (!result.contains("algorithm")) return plan;
  const auto algorithm = select::registered_algorithm(result["algorithm"].get<std::string>());
  if (!algorithm) return std::nullopt;
  plan.algorithm = *algorithm;
  if (result.contains("piece_bytes"))
    plan.piece_bytes = number_in<std::size_t>(result, "piece_bytes");
  if (result.contains("copy_method")) {
    const auto method = position(copy_method_names, result["copy_method"]);
    if (!method) return std::nullopt;
    plan.copy_method = memory::CopyMethod::numbered(*method);
  }
  return plan;
}

// Returns nothing if this version does not know the operation or the plan.
std::optional<StoredTuning> stored_in(const Json& result) {
  const auto operation = position(select::operation_names, result.at("operation"));
  const auto kept = position(implementation_names, result.at("kept"));
  const auto plan = plan_in(result);
  if (!operation || !kept || !plan) return std::nullopt;
  TuningHistory::Key key{
      cpus_in(result),
      {select::operations[*operation], number_in<std::size_t>(result, "most_bytes"),
       result.at("mpi_may_run").get<bool>()}};
  const TuningRecord record{
      .kept = static_cast<Implementation>(*kept),
      .is_settled = result.value("settled", true),
      .plan = *plan,
      .median_ns = result.at("transfer_ns").get<double>(),
      .calls_until_next = number_in<std::uint32_t>(result, "calls_until_next_trial"),
      .next_alternative = number_in<std::uint16_t>(result, "next_alternative"),
      .confirmations = number_in<std::uint8_t>(result, "confirmations")};
  // Otherwise the MPI would change the results of reductions.
  if (record.kept == Implementation::outside && !key.tuned_class.may_run_outside)
    throw WrongValue();
  TuningConditions conditions{.mpi = result.at("mpi").get<std::string>(),
                              .huddle = result.at("huddle").get<std::string>(),
                              .machine = result.at("machine").get<std::string>(),
                              .figures = result.at("figures").get<std::string>(),
                              .has_heap = result.at("heap").get<bool>()};
  return StoredTuning{std::move(conditions), std::move(key), record};
}

Json result_of(const TuningConditions& conditions, const TuningHistory::Key& key,
               const TuningRecord& record) {
  Json result = {{"mpi", conditions.mpi},
                 {"huddle", conditions.huddle},
                 {"machine", conditions.machine},
                 {"figures", conditions.figures},
                 {"heap", conditions.has_heap},
                 {"cpus", key.cpus},
                 {"operation", select::name(key.tuned_class.operation)},
                 {"most_bytes", key.tuned_class.most_bytes},
                 {"mpi_may_run", key.tuned_class.may_run_outside},
                 {"kept", implementation_names[static_cast<std::size_t>(record.kept)]}};
  select::add_features(result, record.plan);
  result["transfer_ns"] = record.median_ns;
  result["settled"] = record.is_settled;
  result["calls_until_next_trial"] = record.calls_until_next;
  result["next_alternative"] = record.next_alternative;
  result["confirmations"] = record.confirmations;
  return result;
}

// Runs `read`. Reports a member that is missing or has a wrong value.
template <class Read>
void reading(const std::string& path, Read read) {
  const auto fail = [&path] {
    throw InputError(fmt::format("{} contains an invalid result; remove the file", path));
  };
  try {
    read();
  } catch (const Json::exception&) {
    fail();
  } catch (const WrongValue&) {
    fail();
  }
}

}  // namespace

std::vector<StoredTuning> stored_tunings(const std::string& path) {
  std::vector<StoredTuning> all;
  reading(path, [&] {
    for (const Json& result : results_in(path)) {
      if (auto stored = stored_in(result)) all.push_back(std::move(*stored));
    }
  });
  return all;
}

TuningHistory::Records read_tuning_file(const std::string& path,
                                        const TuningConditions& conditions) {
  TuningHistory::Records records;
  for (StoredTuning& stored : stored_tunings(path)) {
    if (stored.conditions == conditions) records.emplace(std::move(stored.key), stored.record);
  }
  return records;
}

void write_tuning_file(const std::string& path, const TuningConditions& conditions,
                       const TuningHistory::Records& records) {
  Json results = Json::array();
  reading(path, [&] {
    for (Json& result : results_in(path)) {
      const auto stored = stored_in(result);
      const bool is_replaced =
          stored && stored->conditions == conditions && records.contains(stored->key);
      if (!is_replaced) results.push_back(std::move(result));
    }
  });
  for (const auto& [key, record] : records) results.push_back(result_of(conditions, key, record));
  std::string text =
      fmt::format("{{\"schema\": {}, \"command\": \"{}\", \"results\": [", schema, command);
  for (std::size_t i = 0; i < results.size(); ++i)
    text += fmt::format("{}\n {}", i == 0 ? "" : ",", results[i].dump());
  write_text(text + "\n]}\n", path);
}

}  // namespace huddle::mpi
