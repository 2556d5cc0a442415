// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace huddle {

// A new folder, removed with its content at the end of this object.
class TemporaryFolder {
 public:
  // The folder is called `prefix` and six random characters. Sets `error` if it cannot be made, and
  // does nothing if it is set already.
  TemporaryFolder(const std::filesystem::path& prefix, std::error_code& error) {
    if (error) return;
    std::string name = prefix.string() + "-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      error = {errno, std::generic_category()};
    } else {
      path_ = name;
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace huddle
