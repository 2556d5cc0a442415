// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/toml_reader.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cmath>
#include <limits>
#include <set>

#include "common/error.h"
#include "common/text.h"

namespace huddle::machine {
namespace {

[[noreturn]] void refuse_at(const std::string& name, toml::source_index line,
                            const std::string& what) {
  throw InputError(fmt::format("{}:{}: {}", name, line, what));
}

}  // namespace

struct TomlTable::State {
  std::shared_ptr<toml::table> document;  // keeps the nodes of `table` alive
  const toml::table* table = nullptr;
  std::string name;
  std::set<std::string> read;

  // Marks the key as read. Returns null if there is none.
  const toml::node* find(const std::string& key) {
    read.insert(key);
    return table->get(key);
  }
  const toml::node& need(const std::string& key) {
    const toml::node* node = find(key);
    if (node == nullptr) {
      refuse_at(name, table->source().begin.line, fmt::format("'{}' is missing", key));
    }
    return *node;
  }
  [[noreturn]] void refuse(const toml::node& node, const std::string& key,
                           const std::string& wanted) const {
    refuse_at(name, node.source().begin.line, fmt::format("'{}' must be {}", key, wanted));
  }

  double to_number(const toml::node& node, const std::string& key) const {
    const std::optional<double> value = node.value<double>();
    if (!value || !node.is_number()) refuse(node, key, "a number");
    if (!std::isfinite(*value)) refuse(node, key, "a finite number");
    return *value;
  }
  std::string to_text(const toml::node& node, const std::string& key) const {
    if (!node.is_string()) refuse(node, key, "a string in quotes");
    return node.value<std::string>().value();
  }
  const toml::array& to_array(const toml::node& node, const std::string& key) const {
    if (!node.is_array()) refuse(node, key, "a list");
    return *node.as_array();
  }
  std::vector<double> to_numbers(const toml::node& node, const std::string& key) const {
    std::vector<double> result;
    for (const toml::node& element : to_array(node, key)) result.push_back(to_number(element, key));
    return result;
  }
};

TomlTable::TomlTable(std::unique_ptr<State> state) : state_(std::move(state)) {}
TomlTable::TomlTable(TomlTable&&) noexcept = default;
TomlTable& TomlTable::operator=(TomlTable&&) noexcept = default;
TomlTable::~TomlTable() = default;

TomlTable TomlTable::parse(std::string_view text, const std::string& name) {
  auto state = std::make_unique<State>();
  state->name = name;
  try {
    state->document = std::make_shared<toml::table>(toml::parse(text));
  } catch (const toml::parse_error& error) {
    refuse_at(name, error.source().begin.line, fmt::format("not TOML: {}", error.description()));
  }
  state->table = state->document.get();
  return TomlTable(std::move(state));
}

bool TomlTable::has(const std::string& key) const { return state_->table->contains(key); }

std::string TomlTable::text(const std::string& key) {
  return state_->to_text(state_->need(key), key);
}

std::string TomlTable::text_or(const std::string& key, const std::string& otherwise) {
  const toml::node* node = state_->find(key);
  return node == nullptr ? otherwise : state_->to_text(*node, key);
}

double TomlTable::number(const std::string& key) {
  return state_->to_number(state_->need(key), key);
}

double TomlTable::number_or(const std::string& key, double otherwise) {
  const toml::node* node = state_->find(key);
  return node == nullptr ? otherwise : state_->to_number(*node, key);
}

long long TomlTable::integer(const std::string& key, long long least, long long most) {
  const toml::node& node = state_->need(key);
  const std::optional<std::int64_t> value = node.value_exact<std::int64_t>();
  if (!value || *value < least || *value > most) {
    state_->refuse(node, key,
                   most == std::numeric_limits<long long>::max()
                       ? fmt::format("a whole number, {} or more", least)
                       : fmt::format("a whole number from {} to {}", least, most));
  }
  return *value;
}

long long TomlTable::integer_or(const std::string& key, long long least, long long most,
                                long long otherwise) {
  return state_->find(key) == nullptr ? otherwise : integer(key, least, most);
}

bool TomlTable::boolean_or(const std::string& key, bool otherwise) {
  const toml::node* node = state_->find(key);
  if (node == nullptr) return otherwise;
  if (!node->is_boolean()) state_->refuse(*node, key, "true or false");
  return node->value<bool>().value();
}

std::vector<double> TomlTable::numbers(const std::string& key) {
  return state_->to_numbers(state_->need(key), key);
}

std::vector<double> TomlTable::numbers_or_none(const std::string& key) {
  const toml::node* node = state_->find(key);
  return node == nullptr ? std::vector<double>() : state_->to_numbers(*node, key);
}

std::vector<std::vector<double>> TomlTable::number_rows_or_none(const std::string& key) {
  std::vector<std::vector<double>> rows;
  const toml::node* node = state_->find(key);
  if (node == nullptr) return rows;
  for (const toml::node& row : state_->to_array(*node, key)) {
    rows.push_back(state_->to_numbers(row, key));
  }
  return rows;
}

std::vector<std::string> TomlTable::texts(const std::string& key) {
  std::vector<std::string> result;
  for (const toml::node& element : state_->to_array(state_->need(key), key)) {
    result.push_back(state_->to_text(element, key));
  }
  return result;
}

std::vector<std::string> TomlTable::texts_or_none(const std::string& key) {
  return state_->find(key) == nullptr ? std::vector<std::string>() : texts(key);
}

std::size_t TomlTable::word(const std::string& key, const std::vector<std::string>& words) {
  const std::string value = text(key);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == value) return i;
  }
  refuse(key, fmt::format("'{}' is not one of {}{}", value, fmt::join(words, ", "),
                          did_you_mean(value, words)));
}

std::optional<TomlTable> TomlTable::table(const std::string& key) {
  const toml::node* node = state_->find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) state_->refuse(*node, key, fmt::format("a table, [{}]", key));
  auto state = std::make_unique<State>();
  state->document = state_->document;
  state->table = node->as_table();
  state->name = state_->name;
  return TomlTable(std::move(state));
}

std::vector<TomlTable> TomlTable::tables(const std::string& key) {
  std::vector<TomlTable> result;
  const toml::node* node = state_->find(key);
  if (node == nullptr) return result;
  for (const toml::node& element : state_->to_array(*node, key)) {
    if (!element.is_table()) state_->refuse(element, key, fmt::format("tables, [[{}]]", key));
    auto state = std::make_unique<State>();
    state->document = state_->document;
    state->table = element.as_table();
    state->name = state_->name;
    result.push_back(TomlTable(std::move(state)));
  }
  return result;
}

void TomlTable::finish() const {
  const std::vector<std::string> known(state_->read.begin(), state_->read.end());
  for (const auto& [key, node] : *state_->table) {
    const std::string word(key.str());
    if (state_->read.contains(word)) continue;
    refuse_at(state_->name, key.source().begin.line,
              fmt::format("unknown key '{}'{}", word, did_you_mean(word, known)));
  }
}

void TomlTable::refuse(const std::string& key, const std::string& message) const {
  const toml::node* node = state_->table->get(key);
  const toml::source_region& where = node == nullptr ? state_->table->source() : node->source();
  refuse_at(state_->name, where.begin.line, message);
}

}  // namespace huddle::machine
