// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A machine that consists of the files a test has written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../base/scratch.h"
#include "base/system.h"
#include "doctor/finding.h"

namespace huddle::doctor {

class FakeSystem {
 public:
  // `path` is absolute, as on the machine that is played.
  FakeSystem& file(std::string_view path, std::string_view text) {
    scratch_.write(path.substr(1), text);
    return *this;
  }
  System system() const { return System(scratch_.folder().string()); }

 private:
  test::Scratch scratch_;
};

// The finding of that name; one that says so when there is none.
inline Finding named(const std::vector<Finding>& findings, std::string_view id) {
  for (const Finding& finding : findings) {
    if (finding.id == id) return finding;
  }
  return {.id = "no such finding", .group = "", .what = "", .state = State::fails};
}

}  // namespace huddle::doctor
