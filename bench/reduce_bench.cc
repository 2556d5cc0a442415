// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares sums by the reduction kernels with upper bounds: a plain loop that the compiler
// vectorizes, and the C library's copy of the same number of bytes (two streams instead of three).
// The size is that of one of the three arrays. The rate counts all bytes read and written.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/memory/page_buffer.h"
#include "runtime/memory/reduction.h"

namespace huddle::memory {
namespace {

constexpr std::int64_t sizes[] = {std::int64_t{32} << 10, std::int64_t{512} << 10,
                                  std::int64_t{8} << 20, std::int64_t{256} << 20};

// Runs `work` on three arrays, each `offset` bytes after the start of a cache line. malloc returns
// large blocks at offset 16.
template <typename Work>
void measure(benchmark::State& state, std::size_t offset, const Work& work) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const PageBuffer to(bytes + offset);
  const PageBuffer left(bytes + offset);
  const PageBuffer right(bytes + offset);
  for (const PageBuffer* buffer : {&to, &left, &right}) {
    std::memset(buffer->data(), 0, buffer->size());
  }
  for (auto _ : state) {
    work(to.data() + offset, left.data() + offset, right.data() + offset, bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(3 * state.iterations() * state.range(0));
}

// Copies 1.5 times the size, so that the same number of bytes moves, in two streams.
void measure_copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) / 2 * 3;
  const PageBuffer to(bytes);
  const PageBuffer from(bytes);
  for (const PageBuffer* buffer : {&to, &from}) std::memset(buffer->data(), 0, buffer->size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(3 * state.iterations() * state.range(0));
}

// Compiled with -O3 (CMakeLists.txt).
template <typename T>
void plain_sum(std::byte* to, const std::byte* left, const std::byte* right, std::size_t bytes) {
  auto* __restrict__ sum = reinterpret_cast<T*>(to);
  const auto* __restrict__ a = reinterpret_cast<const T*>(left);
  const auto* __restrict__ b = reinterpret_cast<const T*>(right);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) sum[i] = a[i] + b[i];
}

template <typename Work>
void add(const std::string& name, const Work& work, std::size_t offset) {
  auto* added = benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { measure(state, offset, work); });
  for (const std::int64_t bytes : sizes) added->Arg(bytes);
}

const bool registered = [] {
  auto* copying = benchmark::RegisterBenchmark("memcpy", measure_copy);
  for (const std::int64_t bytes : sizes) copying->Arg(bytes);
  for (const std::size_t offset : {0, 16}) {
    const std::string where = offset == 0 ? "" : "/at16";
    add("plain loop float64" + where, plain_sum<double>, offset);
    for (const Type type :
         {Type::float64, Type::float32, Type::int32, Type::float16, Type::bfloat16}) {
      for (const VectorTarget& target : vector_targets()) {
        if (!target.runs_here()) continue;
        const Reduction sum{target.find(type, Operator::sum), nullptr, type_bytes(type), true};
        add(
            "sum " + std::string(name(type)) + " " + std::string(target.name) + where,
            [sum](std::byte* to, const std::byte* left, const std::byte* right, std::size_t bytes) {
              sum(to, left, right, bytes / sum.element_bytes);
            },
            offset);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace huddle::memory
