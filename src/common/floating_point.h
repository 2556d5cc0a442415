// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cfenv>

namespace huddle {

// Replaces the thread's floating-point environment by the default one, and restores it in the
// destructor. Predictions compute with infinities and with values that are not a number; a program
// that traps invalid operations would be ended by them, and others would find their flags set. Must
// not exist while the thread waits for other ranks, because the MPI may then run operators of the
// program.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&of_program_);
    std::fesetenv(FE_DFL_ENV);
  }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;
  ~DefaultFloatingPoint() { std::fesetenv(&of_program_); }

 private:
  std::fenv_t of_program_{};
};

}  // namespace huddle
