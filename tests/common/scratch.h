// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A temporary folder for one test, which is removed at its end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace huddle::test {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "huddle-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder: " + name);
    folder_ = name;
  }
  // A moved-from folder has no name and removes nothing.
  Scratch(Scratch&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  const std::filesystem::path& folder() const { return folder_; }
  std::string path(std::string_view relative) const { return (folder_ / relative).string(); }

  // Writes a file and its missing parent folders, and returns its path.
  std::string write(std::string_view relative, std::string_view text) const {
    const std::filesystem::path file = folder_ / relative;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    if (!stream) throw std::runtime_error("cannot write " + file.string());
    return file.string();
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace huddle::test
