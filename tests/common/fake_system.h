// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A System that consists of the files that a test has written.
#pragma once

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
  System system() const { return System(scratch_.folder().string()); }

 private:
  test::Scratch scratch_;
};

}  // namespace huddle
