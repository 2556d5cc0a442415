// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fuzzes the parser of assignments: any input is an assignment or throws InputError.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "placement/mapping/emit.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace huddle;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const mapping::Assignment& one : mapping::parse_assignment_lines(text, "fuzz")) {
      if (one.element < 0 || one.slot.node < 0 || one.slot.pu < 0) std::abort();
    }
  } catch (const InputError&) {
  }
  return 0;
}
