// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fuzzes the parser of perf's samples: any input either has samples that are unchanged when they
// are written as a recording and read again, or throws InputError. Anything else stops the fuzzer.
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
  // Accepted samples are valid, so nothing below may throw.
  const threads::Recording again =
      threads::parse_recording(format_recording(samples.recording), "again");
  if (again.events != samples.recording.events) std::abort();
  if (again.names.size() != samples.recording.names.size()) std::abort();
  return 0;
}
