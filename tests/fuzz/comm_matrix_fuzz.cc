// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Arbitrary bytes are either a valid matrix that survives a round trip, or cause an InputError.
// Anything else (a crash, another exception, lost data) stops the fuzzer.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.h"
#include "placement/mapping/comm_matrix.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace huddle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const mapping::Rows rows : {mapping::Rows::first, mapping::Rows::last}) {
    mapping::CommMatrix matrix;
    try {
      matrix = mapping::parse_matrix(text, "fuzz", {rows});
    } catch (const InputError&) {
      continue;
    }
    // Nothing below may throw: accepted input is valid and can be written.
    const mapping::CommMatrix again = mapping::parse_matrix(format_matrix(matrix), "again", {});
    if (again.graph != matrix.graph || again.size() != matrix.size()) std::abort();
  }
  return 0;
}
