// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Any bytes at all are either a sound machine that survives being written and read again, or one
// InputError. Everything else (a crash, another exception, a loss) stops the fuzzer.
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
  // From here on nothing may throw: what was accepted is sound and can be kept.
  machine::validate(machine);
  if (machine::parse_machine(machine::format_machine(machine), "again") != machine) std::abort();
  return 0;
}
