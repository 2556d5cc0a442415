// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Fuzzes the parser of communication matrices: any input either is a valid matrix that is unchanged
// when it is written and read again, or throws InputError. Anything else stops the fuzzer.
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
    // An accepted matrix is valid, so nothing below may throw.
    const mapping::CommMatrix again = mapping::parse_matrix(format_matrix(matrix), "again", {});
    if (again.graph != matrix.graph || again.size() != matrix.size()) std::abort();
  }
  return 0;
}
