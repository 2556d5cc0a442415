// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle's own format of matrices.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "place/matrix_lines.h"

namespace huddle::place {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema_name = "huddle-comm";
constexpr int schema_version = 1;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

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
    read_names(document.value("names", Json::array()), elements, matrix);
    GraphBuilder builder(elements);
    read_entries(document.value("entries", Json()), elements, builder);
    matrix.graph = builder.finish();
    note_folded(matrix, builder.folded());
    if (document.value("incomplete", Json(false)) == true) {
      matrix.notes.emplace_back("marked incomplete: a rank ended before it had written its part");
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
      throw InputError(fmt::format("{}:{}: this is not JSON", name_, line_at(at)));
    } catch (const Json::out_of_range& error) {
      // It quotes the number, and does not say where that stands.
      const std::string_view what = error.what();
      const std::size_t quote = std::min(what.find('\''), what.size());
      const std::string_view digits = what.substr(quote).substr(0, what.rfind('\'') - quote + 1);
      const std::size_t at =
          digits.size() < 3 ? 0 : text_.find(digits.substr(1, digits.size() - 2));
      throw InputError(fmt::format("{}:{}: {} is too large a number", name_,
                                   line_at(std::min(at, text_.size())), printable(digits)));
    }
  }
  std::ptrdiff_t line_at(std::size_t byte) const {
    return 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
  }
  // At the line where that key stands.
  [[noreturn]] void fail(std::string_view key, const std::string& what) const {
    const std::size_t at = text_.find(fmt::format("\"{}\"", key));
    throw InputError(
        fmt::format("{}:{}: {}", name_, line_at(at == std::string_view::npos ? 0 : at), what));
  }
  // The line of an entry: that of its bracket, the next after those of the entries before it.
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
    if (kind == "") return Kind::unknown;
    fail("kind", "\"kind\" is \"ranks\" or \"threads\"");
  }
  int count_of(const Json& n) const {
    if (!n.is_number_unsigned() || n == 0 || n > most_elements) {
      fail("n", fmt::format("\"n\" is a whole number from 1 to {}", most_elements));
    }
    return n.get<int>();
  }
  void read_names(const Json& names, int elements, CommMatrix& matrix) const {
    if (!names.is_array()) fail("names", "\"names\" is a list of names");
    if (names.empty()) return;
    if (names.size() != static_cast<std::size_t>(elements)) {
      fail("names", fmt::format("{} names for {} elements", names.size(), elements));
    }
    for (const Json& one : names) {
      if (!one.is_string()) fail("names", "\"names\" is a list of names");
      matrix.names.push_back(one.get<std::string>());
    }
  }
  void read_entries(const Json& entries, int elements, GraphBuilder& builder) const {
    if (!entries.is_array())
      fail("entries", "\"entries\" is a list of [from, to, bytes, messages]");
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
        const bool sound = entry[amount].is_number() && entry[amount] >= 0 &&
                           entry[amount].get<double>() <= most_bytes_of_a_pair;
        if (!sound) fail_entry(i, "bytes and messages are numbers, 0 or more, and up to 1e18");
      }
      builder.add({entry[0].get<int>(), entry[1].get<int>(), entry[2].get<double>()});
    }
  }

  std::string_view text_;
  const std::string& name_;
};

}  // namespace

CommMatrix parse_huddle_comm(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

std::string format_matrix(const CommMatrix& matrix) {
  Json document = {{"schema", schema_name}, {"version", schema_version}};
  if (matrix.kind != Kind::unknown)
    document["kind"] = fmt::format("{}s", element_word(matrix.kind));
  document["n"] = matrix.size();
  document["names"] = matrix.names;
  std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();
  text += ", \"entries\": [";
  std::string_view separator = "\n";
  for (int v = 0; v < matrix.size(); ++v) {
    const Graph::Row row = matrix.graph.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.neighbours[i] < v) continue;
      text += fmt::format("{}[{}, {}, {}]", separator, v, row.neighbours[i], row.bytes[i]);
      separator = ",\n";
    }
  }
  return text + "]}\n";
}

}  // namespace huddle::place
