// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Copy kernels for every processor that has no file of its own: the C library's copy, which is
// correct everywhere and good on most.
#include "runtime/memory/copy_kernels.h"

#if !defined(__x86_64__)

#include <cstring>

namespace huddle::memory {

NativeKernels native_kernels() { return {}; }

void copy_rep_movsb(std::byte* target, const std::byte* source, std::size_t n) {
  std::memcpy(target, source, n);
}

void copy_nontemporal(std::byte* target, const std::byte* source, std::size_t n) {
  std::memcpy(target, source, n);
}

void copy_prefetch_write(std::byte* target, const std::byte* source, std::size_t n) {
  std::memcpy(target, source, n);
}

void copy_interleaved(std::byte* target, const std::byte* source, std::size_t n) {
  std::memcpy(target, source, n);
}

}  // namespace huddle::memory

#endif
