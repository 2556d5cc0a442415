// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A TOML reader whose errors name file and line. Only toml_reader.cc includes the TOML library.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::machine {

// One table of a TOML document. It records the keys that are read, so that finish() can report
// unknown keys; otherwise a mistyped key would count as a missing one.
class TomlTable {
 public:
  TomlTable(TomlTable&&) noexcept;
  TomlTable& operator=(TomlTable&&) noexcept;
  ~TomlTable();

  // Throws InputError "NAME:LINE: ..." if the text is not TOML. `name` is the file's name.
  static TomlTable parse(std::string_view text, const std::string& name);

  bool has(const std::string& key) const;
  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& otherwise);
  double number(const std::string& key);
  double number_or(const std::string& key, double otherwise);
  long long integer(const std::string& key, long long least, long long most);
  long long integer_or(const std::string& key, long long least, long long most,
                       long long otherwise);
  bool boolean_or(const std::string& key, bool otherwise);
  std::vector<double> numbers(const std::string& key);
  std::vector<double> numbers_or_none(const std::string& key);
  std::vector<std::vector<double>> number_rows_or_none(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::vector<std::string> texts_or_none(const std::string& key);
  // Returns the index of the value in `words`.
  std::size_t word(const std::string& key, const std::vector<std::string>& words);

  // Returns table [key], or nothing if there is none.
  std::optional<TomlTable> table(const std::string& key);
  // Returns the array of tables [[key]], empty if there is none.
  std::vector<TomlTable> tables(const std::string& key);

  // Throws InputError if the table has a key that was not read, with the nearest key that was.
  void finish() const;

  // Throws InputError "NAME:LINE: message" with the line of the key, or of the table for "".
  [[noreturn]] void refuse(const std::string& key, const std::string& message) const;

 private:
  struct State;
  explicit TomlTable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace huddle::machine
