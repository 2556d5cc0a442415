// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Kernels that copy bytes. Which one is fastest depends on where the bytes are and which caches
// hold them. Therefore `huddle calibrate` measures the kernels, and the cost model selects one.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace huddle::memory {

// Has four bytes, because compilers load four even if they have stored one.
enum class CopyKernel : std::uint32_t {
  plain,           // the C library's memcpy
  rep_movsb,       // the REP MOVSB instruction
  nontemporal,     // non-temporal stores of whole cache lines; does not read the target
  prefetch_write,  // prefetches the target for writing, some distance ahead of the stores
  interleaved,     // like prefetch_write, but alternates between several pages
};
inline constexpr std::array<CopyKernel, 5> copy_kernels = {
    CopyKernel::plain, CopyKernel::rep_movsb, CopyKernel::nontemporal, CopyKernel::prefetch_write,
    CopyKernel::interleaved};
inline constexpr std::array<std::string_view, 5> copy_kernel_names = {
    "plain", "rep_movsb", "nontemporal", "prefetch_write", "interleaved"};

constexpr std::string_view name(CopyKernel kernel) {
  return copy_kernel_names[static_cast<std::size_t>(kernel)];
}

// Selects a kernel by the number of bytes, with one entry per power of two.
class KernelBySize {
 public:
  static constexpr std::size_t sizes = std::numeric_limits<std::size_t>::digits;

  // Uses the same kernel for all sizes.
  constexpr KernelBySize(CopyKernel kernel = CopyKernel::plain) { kernels_.fill(kernel); }

  // Sets the kernel for sizes from 2^power to 2^(power+1) - 1.
  void set(std::size_t power, CopyKernel kernel) { kernels_[power] = kernel; }
  CopyKernel of(std::size_t n) const {
    return kernels_[static_cast<std::size_t>(std::bit_width(n | 1)) - 1];
  }

 private:
  std::array<CopyKernel, sizes> kernels_{};
};

// Returns whether the kernel is implemented for this CPU architecture. If not, copy_bytes uses
// memcpy.
bool is_native(CopyKernel kernel);

// Returns whether copy_tiny() can copy n bytes, as two words that may overlap. For such sizes a
// function call would cost more than the copy.
constexpr bool is_tiny(std::size_t n) { return n >= 8 && n <= 16; }
// Requires: is_tiny(n); the two ranges do not overlap.
inline void copy_tiny(std::byte* target, const std::byte* source, std::size_t n) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, source, sizeof first);
  std::memcpy(&last, source + n - sizeof last, sizeof last);
  std::memcpy(target, &first, sizeof first);
  std::memcpy(target + n - sizeof last, &last, sizeof last);
}

// Copies n bytes. A later release store is ordered after the copy, even if the kernel uses
// non-temporal stores.
// Requires: the ranges do not overlap; pointers are null only if n == 0.
void copy_bytes(CopyKernel kernel, void* target, const void* source, std::size_t n);

// Copies n bytes, and stores to each cache line of the source without changing it. The lines are
// then modified in this core's cache, so that the next writer fetches them from there. Invalidating
// shared copies in several caches would take it longer.
// Requires: as copy_bytes; no other thread uses the source during the call.
void read_and_own(void* target, void* source, std::size_t n);
// Takes ownership of the cache lines like read_and_own, for bytes that were read without being
// copied.
// Requires: no other thread uses the bytes during the call.
void write_and_keep(void* bytes, std::size_t n);

// The kernels behind copy_bytes, with the same requirements. They are in copy_x86.cc and, for other
// CPUs, in copy.cc.
inline constexpr std::size_t line_bytes = 64;

// The kernels that have a native implementation in this build.
struct NativeKernels {
  bool plain = true;
  bool rep_movsb = false;
  bool nontemporal = false;
  bool prefetch_write = false;
  bool interleaved = false;
};
NativeKernels native_kernels();

void copy_rep_movsb(std::byte* target, const std::byte* source, std::size_t n);
void copy_nontemporal(std::byte* target, const std::byte* source, std::size_t n);
void copy_prefetch_write(std::byte* target, const std::byte* source, std::size_t n);
void copy_interleaved(std::byte* target, const std::byte* source, std::size_t n);

}  // namespace huddle::memory
