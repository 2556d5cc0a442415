// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads configuration files. This is the only file of this module that depends on toml++.
#include "common/settings/settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/error.h"

namespace huddle::settings {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void cannot_read(const std::string& path) {
  throw FailureError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
}

// Uses the C library because its errno states why a file cannot be read.
std::optional<std::string> contents(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "r"));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    cannot_read(path);
  }
  std::string all;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get())) {
    all.append(block, got);
  }
  if (std::ferror(file.get()) != 0) cannot_read(path);
  return all;
}

toml::table parse(const std::string& text, const std::string& path) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw InputError(
        fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }
}

}  // namespace

std::vector<FileEntry> read_settings_file(const std::string& path) {
  const std::optional<std::string> text = contents(path);
  if (!text) return {};
  std::vector<FileEntry> entries;
  for (const auto& [key, node] : parse(*text, path)) {
    entries.push_back({std::string(key.str()), node.value_exact<std::string>(),
                       static_cast<int>(key.source().begin.line)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const FileEntry& a, const FileEntry& b) { return a.line < b.line; });
  return entries;
}

}  // namespace huddle::settings
