// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Arbitrary bytes are either a valid machine that survives a round trip, or cause an InputError.
// Anything else (a crash, another exception, lost data) stops the fuzzer.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "model/machine/machine_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace huddle;
  machine::Machine machine;
  try {
    machine = machine::parse_machine({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const InputError&) {
    return 0;
  }
  // Nothing below may throw: accepted input is valid and can be written.
  machine::validate(machine);
  if (machine::parse_machine(machine::format_machine(machine), "again") != machine) std::abort();
  return 0;
}
