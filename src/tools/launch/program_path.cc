// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/program_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace huddle::launch {
namespace {

namespace fs = std::filesystem;

// As many links as the kernel follows.
constexpr int most_links = 40;

bool can_start(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

bool holds_slash(std::string_view word) { return word.find('/') != std::string_view::npos; }

}  // namespace

std::optional<std::string> find_program(const std::string& word, std::string_view search_path) {
  if (word.empty()) return std::nullopt;
  if (holds_slash(word)) return can_start(word) ? std::optional(word) : std::nullopt;
  for (std::size_t start = 0; start <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', start), search_path.size());
    const std::string_view folder = search_path.substr(start, end - start);
    const std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, word);
    if (can_start(path)) return path;
    start = end + 1;
  }
  return std::nullopt;
}

std::string why_not_found(const std::string& word) {
  std::error_code ignored;
  const fs::file_status status = fs::status(word, ignored);
  if (word.empty()) return "the command is an empty word; is a variable not set?";
  if (!holds_slash(word)) {
    return fmt::format("there is no program '{}' in the folders of PATH; {}", word,
                       fs::is_regular_file(status) ? fmt::format("say ./{} for the one here", word)
                                                   : "check its name, or load its module");
  }
  if (fs::is_directory(status)) return fmt::format("{} is a folder, not a program", word);
  if (fs::exists(status)) {
    return fmt::format("{0} may not be executed; is it a program? chmod +x {0}", word);
  }
  return fmt::format("there is no file {}; check the path", word);
}

std::vector<std::string> along_links(const std::string& path) {
  std::vector<std::string> paths = {path};
  std::error_code error;
  for (int i = 0; i < most_links; ++i) {
    const fs::path target = fs::read_symlink(paths.back(), error);
    if (error) break;
    paths.push_back((fs::path(paths.back()).parent_path() / target).string());
  }
  return paths;
}

}  // namespace huddle::launch
