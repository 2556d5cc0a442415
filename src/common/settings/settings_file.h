// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A configuration file as lines of key and value; what the keys mean is settled elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace huddle::settings {

struct FileEntry {
  std::string key;
  std::optional<std::string> text;  // empty: the value is a number, a table, ... and not text
  int line = 0;
};

// Entries in the order of the file; nothing when there is no such file. Throws InputError for one
// that cannot be read or is not TOML.
std::vector<FileEntry> read_settings_file(const std::string& path);

}  // namespace huddle::settings
