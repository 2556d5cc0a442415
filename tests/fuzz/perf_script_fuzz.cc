// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Any bytes at all are either samples that survive being written as a recording and read again, or
// one InputError. Everything else (a crash, another exception, a loss) stops the fuzzer.
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
  // From here on nothing may throw: what was accepted is sound and can be kept.
  const threads::Recording again =
      threads::parse_recording(format_recording(samples.recording), "again");
  if (again.events != samples.recording.events) std::abort();
  if (again.names.size() != samples.recording.names.size()) std::abort();
  return 0;
}
