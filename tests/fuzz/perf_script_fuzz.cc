// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Arbitrary bytes are either samples that survive a round trip as a recording, or cause an
// InputError. Anything else (a crash, another exception, lost data) stops the fuzzer.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "placement/threads/recording.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace huddle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  threads::PerfSamples samples;
  try {
    samples = threads::parse_perf_script(text, "fuzz");
  } catch (const InputError&) {
    return 0;
  }
  // Nothing below may throw: accepted input is valid and can be written.
  const threads::Recording again =
      threads::parse_recording(format_recording(samples.recording), "again");
  if (again.events != samples.recording.events) std::abort();
  if (again.names.size() != samples.recording.names.size()) std::abort();
  return 0;
}
