// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/system.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

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

// By the kernel's own calls: ranks read dozens of such files when they first join, and a stream
// takes several times as long as the kernel.
std::optional<std::string> System::read(std::string_view path) const {
  const int file = open(at(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  // Not by way of the stack, of which threads of programs may have little.
  constexpr std::size_t chunk_bytes = 4096;
  std::string text;
  std::size_t size = 0;
  ssize_t bytes = 0;
  do {
    text.resize(size + chunk_bytes);
    bytes = ::read(file, text.data() + size, chunk_bytes);
    if (bytes > 0) size += static_cast<std::size_t>(bytes);
  } while (bytes > 0 || (bytes < 0 && errno == EINTR));
  close(file);
  if (bytes < 0) return std::nullopt;
  text.resize(size);
  text.erase(text.find_last_not_of(white) + 1);
  return text;
}

std::vector<std::string> System::lines(std::string_view path) const {
  const std::string text = read(path).value_or("");
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
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
  std::vector<std::string> all;
  std::size_t at = line.find_first_not_of(white);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(white, at), line.size());
    all.emplace_back(line.substr(at, end - at));
    at = line.find_first_not_of(white, end);
  }
  return all;
}

std::string chosen_word(std::string_view line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return std::string(line.substr(open + 1, close - open - 1));
}

}  // namespace huddle
