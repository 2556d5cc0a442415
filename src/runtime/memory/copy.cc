// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/memory/copy.h"

#include <array>
#include <cstring>

namespace huddle::memory {

namespace {

void copy_plain(std::byte* target, const std::byte* source, std::size_t n) {
  std::memcpy(target, source, n);
}

// The implementation of a kernel; `kernels` is in the order of CopyKernel.
struct Kernel {
  void (*copy)(std::byte* target, const std::byte* source, std::size_t n);
  bool NativeKernels::*is_native;
};
constexpr std::array<Kernel, copy_kernels.size()> kernels = {{
    {copy_plain, &NativeKernels::plain},
    {copy_rep_movsb, &NativeKernels::rep_movsb},
    {copy_nontemporal, &NativeKernels::nontemporal},
    {copy_prefetch_write, &NativeKernels::prefetch_write},
    {copy_interleaved, &NativeKernels::interleaved},
}};

}  // namespace

bool is_native(CopyKernel kernel) {
  return native_kernels().*kernels[static_cast<std::size_t>(kernel)].is_native;
}

void copy_bytes(CopyKernel kernel, void* target, const void* source, std::size_t n) {
  if (n == 0) return;  // memcpy must not get null pointers, even for 0 bytes
  kernels[static_cast<std::size_t>(kernel)].copy(static_cast<std::byte*>(target),
                                                 static_cast<const std::byte*>(source), n);
}

namespace {

// `volatile` keeps the compiler from removing a store that changes nothing.
void store_again(volatile std::byte& byte) { byte = byte; }

}  // namespace

void read_and_own(void* target, void* source, std::size_t n) {
  auto* to = static_cast<std::byte*>(target);
  auto* from = static_cast<std::byte*>(source);
  std::size_t done = 0;
  for (; done + line_bytes <= n; done += line_bytes) {
    std::memcpy(to + done, from + done, line_bytes);
    store_again(from[done]);
  }
  if (done == n) return;
  std::memcpy(to + done, from + done, n - done);
  store_again(from[n - 1]);
}

void write_and_keep(void* bytes, std::size_t n) {
  auto* all = static_cast<std::byte*>(bytes);
  for (std::size_t at = 0; at < n; at += line_bytes) store_again(all[at]);
  if (n > 0) store_again(all[n - 1]);
}

}  // namespace huddle::memory

// Fallback for CPUs without kernels of their own: memcpy, which is fast on most of them.
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
