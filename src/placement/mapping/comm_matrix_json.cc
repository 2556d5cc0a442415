// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads and writes huddle-comm, huddle's own matrix format.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/arithmetic.h"
#include "common/error.h"
#include "common/text.h"
#include "placement/mapping/comm_matrix.h"

namespace huddle::mapping {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema_name = "huddle-comm";
constexpr int schema_version = 1;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name, const ReadOptions& options)
      : text_(text), name_(name), options_(options) {}

  CommMatrix read() {
    const Json document = parsed();
    if (document.value("schema", Json()) != schema_name) {
      fail("schema", fmt::format("\"schema\" is not \"{}\"", schema_name));
    }
    if (document.value("version", Json()) != schema_version) {
      fail("version", fmt::format("this huddle reads version {}", schema_version));
    }
    CommMatrix matrix;
    matrix.kind = kind_of(document.value("kind", Json("")));
    const int elements = count_of(document.value("n", Json()));
    matrix.names = names_in(document, "names", elements);
    matrix.hosts = names_in(document, "hosts", elements);
    matrix.unobserved = sentences_in(document, "unobserved");
    GraphBuilder builder(elements);
    read_phase(document, elements, builder);
    matrix.graph = builder.finish();
    // Entries of this format have a direction, so different amounts need no note.
    Folded folded = builder.folded();
    folded.one_sided = 0;
    note_folded(matrix, folded);
    matrix.events = events_in(document, elements);
    matrix.memory = memory_in(document, elements);
    if (document.value("incomplete", Json(false)) == true) {
      matrix.notes.emplace_back(
          "the profile is incomplete: a rank ended before it had written its data");
    }
    return matrix;
  }

 private:
  Json parsed() const {
    try {
      Json document = Json::parse(text_);
      if (!document.is_object()) fail("", "an object was expected");
      return document;
    } catch (const Json::parse_error& error) {
      const std::size_t at = std::min(error.byte, text_.size());
      throw InputError(fmt::format("{}:{}: invalid JSON", name_, line_at(at)));
    } catch (const Json::out_of_range& error) {
      // The message quotes the number but does not contain its position.
      const std::string_view what = error.what();
      const std::size_t quote = std::min(what.find('\''), what.size());
      const std::string_view digits = what.substr(quote).substr(0, what.rfind('\'') - quote + 1);
      const std::size_t at =
          digits.size() < 3 ? 0 : text_.find(digits.substr(1, digits.size() - 2));
      throw InputError(fmt::format("{}:{}: the number {} is too large", name_,
                                   line_at(std::min(at, text_.size())), printable(digits)));
    }
  }
  std::ptrdiff_t line_at(std::size_t byte) const {
    return 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
  }
  // Reports the line that contains `key`.
  [[noreturn]] void fail(std::string_view key, const std::string& what) const {
    const std::size_t at = text_.find(fmt::format("\"{}\"", key));
    throw InputError(
        fmt::format("{}:{}: {}", name_, line_at(at == std::string_view::npos ? 0 : at), what));
  }
  // Reports the line of entry `index`. Every entry has exactly one opening bracket.
  [[noreturn]] void fail_entry(std::size_t index, const std::string& what) const {
    std::size_t at = text_.find('[', std::min(text_.find("\"entries\""), text_.size()));
    for (std::size_t i = 0; i <= index && at != std::string_view::npos; ++i) {
      at = text_.find('[', at + 1);
    }
    throw InputError(fmt::format("{}:{}: entry {}: {}", name_, line_at(std::min(at, text_.size())),
                                 index, what));
  }

  Kind kind_of(const Json& kind) const {
    if (kind == "ranks") return Kind::ranks;
    if (kind == "threads") return Kind::threads;
    if (kind == Json("")) return Kind::unknown;
    fail("kind", "\"kind\" must be \"ranks\" or \"threads\"");
  }
  int count_of(const Json& n) const {
    if (!n.is_number_unsigned() || n == 0 || n > most_elements) {
      fail("n", fmt::format("\"n\" must be a whole number from 1 to {}", most_elements));
    }
    return n.get<int>();
  }
  std::vector<std::string> names_in(const Json& document, const char* key, int elements) const {
    std::vector<std::string> names = sentences_in(document, key);
    if (!names.empty() && names.size() != static_cast<std::size_t>(elements)) {
      fail(key, fmt::format("{} names for {} elements", names.size(), elements));
    }
    return names;
  }
  std::vector<std::string> sentences_in(const Json& document, const char* key) const {
    const Json texts = document.value(key, Json::array());
    const auto is_text = [](const Json& one) { return one.is_string(); };
    if (!texts.is_array() || !std::all_of(texts.begin(), texts.end(), is_text)) {
      fail(key, fmt::format("\"{}\" must be a list of strings", key));
    }
    return texts.get<std::vector<std::string>>();
  }
  // Older profiles contain no events, and single phases never do.
  std::optional<Events> events_in(const Json& document, int elements) const {
    if (!document.contains("events") || !options_.phase.empty()) return std::nullopt;
    const Json& events = document["events"];
    const Json dispersion = events.is_object() ? events.value("dispersion", Json()) : Json();
    if (!dispersion.is_number() || dispersion < 0 ||
        dispersion.get<double>() > most_bytes_of_a_pair) {
      fail("events", "\"events\" must be an object with a \"dispersion\" of 0 or more");
    }
    GraphBuilder counts(elements);
    const Json& entries = document["entries"];
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].size() != 4) fail_entry(i, "the number of events is missing");
      counts.add({entries[i][0].get<int>(), entries[i][1].get<int>(), entries[i][3].get<double>()});
    }
    return Events{counts.finish(), dispersion.get<double>()};
  }
  // Nothing for a single phase, because the traffic is that of the whole program.
  std::optional<MemoryTraffic> memory_in(const Json& document, int elements) const {
    if (!document.contains("memory") || !options_.phase.empty()) return std::nullopt;
    const Json& memory = document["memory"];
    const Json seconds = memory.is_object() ? memory.value("seconds", Json()) : Json();
    if (!seconds.is_number() || seconds <= 0) {
      fail("memory", "\"memory\" must be an object with \"seconds\" above 0 and \"bytes\"");
    }
    MemoryTraffic traffic{seconds.get<double>(), amounts_in(memory, "bytes", elements)};
    if (memory.contains("working_set")) {
      traffic.working_set_bytes = amounts_in(memory, "working_set", elements);
    }
    return traffic;
  }
  std::vector<double> amounts_in(const Json& object, const char* key, int elements) const {
    const Json amounts = object.value(key, Json());
    const bool sound =
        amounts.is_array() && amounts.size() == at(elements) &&
        std::all_of(amounts.begin(), amounts.end(), [](const Json& one) { return is_amount(one); });
    if (!sound)
      fail(key, fmt::format("\"{}\" must be a list of {} numbers from 0 to 1e18", key, elements));
    return amounts.get<std::vector<double>>();
  }
  static bool is_amount(const Json& one) {
    return one.is_number() && one >= 0 && one.get<double>() <= most_bytes_of_a_pair;
  }
  // Reads what the options select: one phase or all, with or without collectives.
  void read_phase(const Json& document, int elements, GraphBuilder& builder) const {
    if (options_.phase.empty()) {
      read_entries(document.value("entries", Json()), elements, builder);
      const Json collectives = document.value("collectives", Json::object());
      if (!collectives.is_object()) fail("collectives", "\"collectives\" must be an object");
      if (options_.with_collectives) {
        read_entries(collectives.value("entries", Json::array()), elements, builder);
      }
      return;
    }
    const Json phase = phase_named(document, options_.phase);
    read_entries(phase.value("entries", Json()), elements, builder);
    if (options_.with_collectives) {
      read_entries(phase.value("collectives", Json::array()), elements, builder);
    }
  }
  Json phase_named(const Json& document, const std::string& name) const {
    std::vector<std::string> names;
    const Json phases = document.value("phases", Json::array());
    if (!phases.is_array()) fail("phases", "\"phases\" must be a list of phases");
    for (const Json& phase : phases) {
      if (!phase.is_object() || !phase.value("name", Json()).is_string()) {
        fail("phases", "a phase must be an object with a \"name\"");
      }
      names.push_back(phase["name"].get<std::string>());
      if (names.back() == name) return phase;
    }
    if (names.empty()) fail("", "the file has no phases");
    fail("phases", fmt::format("unknown phase '{}'; use one of: {}", printable(name),
                               printable(fmt::format("{}", fmt::join(names, ", ")))));
  }
  void read_entries(const Json& entries, int elements, GraphBuilder& builder) const {
    if (!entries.is_array())
      fail("entries", "\"entries\" must be a list of [from, to, bytes, messages]");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const Json& entry = entries[i];
      if (!entry.is_array() || entry.size() < 3 || entry.size() > 4) {
        fail_entry(i, "[from, to, bytes, messages] was expected");
      }
      for (std::size_t end = 0; end < 2; ++end) {
        if (!entry[end].is_number_unsigned() || entry[end] >= elements) {
          fail_entry(i, fmt::format("elements are numbered from 0 to {}", elements - 1));
        }
      }
      for (std::size_t amount = 2; amount < entry.size(); ++amount) {
        if (!is_amount(entry[amount]))
          fail_entry(i, "bytes and messages must be numbers from 0 to 1e18");
      }
      builder.add({entry[0].get<int>(), entry[1].get<int>(), entry[2].get<double>()});
    }
  }

  std::string_view text_;
  const std::string& name_;
  const ReadOptions& options_;
};

}  // namespace

CommMatrix parse_huddle_comm(std::string_view text, const std::string& name,
                             const ReadOptions& options) {
  return Reader(text, name, options).read();
}

std::string format_matrix(const CommMatrix& matrix) {
  Json document = {{"schema", schema_name}, {"version", schema_version}};
  if (matrix.kind != Kind::unknown)
    document["kind"] = fmt::format("{}s", element_word(matrix.kind));
  document["n"] = matrix.size();
  document["names"] = matrix.names;
  if (matrix.events) {
    document["events"] = {{"total", matrix.events->total()},
                          {"dispersion", matrix.events->dispersion}};
  }
  if (matrix.memory) {
    document["memory"] = {{"seconds", matrix.memory->seconds}, {"bytes", matrix.memory->bytes}};
    if (!matrix.memory->working_set_bytes.empty()) {
      document["memory"]["working_set"] = matrix.memory->working_set_bytes;
    }
  }
  if (!matrix.unobserved.empty()) document["unobserved"] = matrix.unobserved;
  std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();
  text += ", \"entries\": [";
  std::string_view separator = "\n";
  for (int v = 0; v < matrix.size(); ++v) {
    const Graph::Row row = matrix.graph.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.neighbours[i] < v) continue;
      text += fmt::format("{}[{}, {}, {}", separator, v, row.neighbours[i], row.bytes[i]);
      if (matrix.events) text += fmt::format(", {}", matrix.events->counts.row(v).bytes[i]);
      text += ']';
      separator = ",\n";
    }
  }
  return text + "]}\n";
}

}  // namespace huddle::mapping
