// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "base/system.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace huddle {
namespace {

constexpr std::string_view white = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

}  // namespace

bool System::exists(std::string_view path) const {
  std::error_code ignored;
  return std::filesystem::exists(at(path), ignored);
}

std::optional<std::string> System::read(std::string_view path) const {
  std::ifstream file(at(path), std::ios::binary);
  if (!file) return std::nullopt;
  // By read(), which notes an error in the stream; iterators throw it. What /proc tells of a thread
  // can end in the middle, with the thread.
  std::string text;
  std::array<char, 4096> part;
  do {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (file.bad()) return std::nullopt;
  text.erase(text.find_last_not_of(white) + 1);
  return text;
}

std::vector<std::string> System::lines(std::string_view path) const {
  std::istringstream stream(read(path).value_or(""));
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

std::optional<long long> System::number(std::string_view path) const {
  return whole_number(read(path).value_or(""));
}

std::optional<std::string> System::field(std::string_view path, std::string_view key) const {
  for (const std::string& line : lines(path)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (trimmed(line.substr(0, colon)) == key) return std::string(trimmed(line.substr(colon + 1)));
  }
  return std::nullopt;
}

std::vector<std::string> System::list(std::string_view path) const {
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(at(path), ignored)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<long long> whole_number(std::string_view text) {
  long long value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string> words(std::string_view line) {
  std::istringstream stream{std::string(line)};
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

std::string chosen_word(std::string_view line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return std::string(line.substr(open + 1, close - open - 1));
}

}  // namespace huddle
