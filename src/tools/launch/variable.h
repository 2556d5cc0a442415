// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A variable of the environment, as it travels to the ranks.
#pragma once

#include <string>

namespace huddle::launch {

struct Variable {
  std::string name;
  std::string value;

  bool operator==(const Variable&) const = default;
};

// "NAME=value".
inline std::string assignment(const Variable& variable) {
  return variable.name + "=" + variable.value;
}

}  // namespace huddle::launch
