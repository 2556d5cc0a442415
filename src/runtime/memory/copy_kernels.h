// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The kernels behind copy_bytes, one set for each kind of processor: copy_x86.cc or
// copy_portable.cc. Same conditions as copy_bytes.
#pragma once

#include <cstddef>

namespace huddle::memory {

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
