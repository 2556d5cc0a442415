// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Benchmarks the copy kernels on the core's own data by size, for work on a kernel. `huddle
// calibrate` measures them between two cores.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/memory/copy.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

constexpr std::int64_t smallest = 64;
constexpr std::int64_t largest = std::int64_t{64} << 20;

void copy(benchmark::State& state, CopyKernel kernel, std::size_t target_offset) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const PageBuffer source(bytes);
  const PageBuffer target(bytes + target_offset);
  source.touch();
  target.touch();
  for (auto _ : state) {
    copy_bytes(kernel, target.data() + target_offset, source.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// Registers each kernel with aligned data and with an offset that needs a head and a tail.
const bool registered = [] {
  for (const CopyKernel kernel : copy_kernels) {
    for (const std::size_t offset : {0, 7}) {
      const std::string label = std::string(name(kernel)) + (offset == 0 ? "" : "/unaligned");
      benchmark::RegisterBenchmark(
          label.c_str(), [kernel, offset](benchmark::State& state) { copy(state, kernel, offset); })
          ->RangeMultiplier(8)
          ->Range(smallest, largest);
    }
  }
  return true;
}();

}  // namespace
}  // namespace huddle::memory
