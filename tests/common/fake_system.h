// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A System that consists of the files that a test has written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/system.h"
#include "scratch.h"

namespace huddle {

class FakeSystem {
 public:
  // `path` is absolute, as on the simulated machine.
  FakeSystem& file(std::string_view path, std::string_view text) {
    scratch_.write(path.substr(1), text);
    return *this;
  }
  // Removes a file, or a folder with its contents.
  void remove(std::string_view path) const {
    std::filesystem::remove_all(scratch_.folder() / path.substr(1));
  }
  System system() const { return System(scratch_.folder().string()); }

 private:
  test::Scratch scratch_;
};

}  // namespace huddle
