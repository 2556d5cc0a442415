// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fuzzes the parser of machine files: any input either is a valid machine that is unchanged when it
// is written and read again, or throws InputError. Anything else stops the fuzzer.
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
  // An accepted machine is valid, so nothing below may throw.
  machine::validate(machine);
  if (machine::parse_machine(machine::format_machine(machine), "again") != machine) std::abort();
  return 0;
}
