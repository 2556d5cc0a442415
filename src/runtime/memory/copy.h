// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ways of copying bytes. Which one is fastest depends on where the bytes lie and who has them
// cached, so they are measured (huddle calibrate) and chosen by what was measured.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace huddle::memory {

enum class CopyKernel : std::uint8_t {
  plain,           // the C library's memcpy
  rep_movsb,       // the processor's own string copy
  nontemporal,     // whole lines past the caches, nothing of the target is read first
  prefetch_write,  // lines of the target are asked for, writable, some way ahead of the stores
  interleaved,     // the same with several pages in turn
};
inline constexpr std::array<CopyKernel, 5> copy_kernels = {
    CopyKernel::plain, CopyKernel::rep_movsb, CopyKernel::nontemporal, CopyKernel::prefetch_write,
    CopyKernel::interleaved};
inline constexpr std::array<std::string_view, 5> copy_kernel_names = {
    "plain", "rep_movsb", "nontemporal", "prefetch_write", "interleaved"};

constexpr std::string_view name(CopyKernel kernel) {
  return copy_kernel_names[static_cast<std::size_t>(kernel)];
}

// The kernel for so many bytes, where there is nothing else to tell: one for each power of two.
class KernelBySize {
 public:
  static constexpr std::size_t sizes = std::numeric_limits<std::size_t>::digits;

  // The same for all.
  constexpr KernelBySize(CopyKernel kernel = CopyKernel::plain) { kernels_.fill(kernel); }

  // For less than twice the power of two.
  void set(std::size_t power, CopyKernel kernel) { kernels_[power] = kernel; }
  CopyKernel of(std::size_t n) const {
    return kernels_[static_cast<std::size_t>(std::bit_width(n | 1)) - 1];
  }

 private:
  std::array<CopyKernel, sizes> kernels_{};
};

// False where this processor has nothing of the kind and copy_bytes does the same as plain.
bool is_native(CopyKernel kernel);

// So few bytes that calling anything costs more than moving them: two words, which may overlap.
constexpr bool is_tiny(std::size_t n) { return n >= 8 && n <= 16; }
// pre: is_tiny(n); the two ranges do not overlap.
inline void copy_tiny(std::byte* target, const std::byte* source, std::size_t n) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, source, sizeof first);
  std::memcpy(&last, source + n - sizeof last, sizeof last);
  std::memcpy(target, &first, sizeof first);
  std::memcpy(target + n - sizeof last, &last, sizeof last);
}

// pre: the two ranges do not overlap; null only with n == 0.
// A release store that follows orders the copy for whoever acquires it, with every kernel.
void copy_bytes(CopyKernel kernel, void* target, const void* source, std::size_t n);

// Copies, and stores to each line of the source what is there anyway: then nobody but this core has
// them, and whoever writes there next gets them from one place. Where a core that has only read
// lines has to be told first that they are about to change, that costs the next writer more.
// pre: as copy_bytes; nobody else uses the source meanwhile.
void read_and_own(void* target, void* source, std::size_t n);
// The same for bytes that were read without being copied. pre: nobody else uses them meanwhile.
void write_and_keep(void* bytes, std::size_t n);

// The kernels behind copy_bytes, one set for each kind of processor: copy_x86.cc or
// copy_portable.cc. Same conditions as copy_bytes.
inline constexpr std::size_t line_bytes = 64;

// What the processor of this build has of its own.
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
