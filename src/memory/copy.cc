// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "memory/copy.h"

#include <cstring>

#include "memory/copy_kernels.h"

namespace huddle::memory {

bool is_native(CopyKernel kernel) {
  switch (kernel) {
    case CopyKernel::plain:
      return true;
    case CopyKernel::rep_movsb:
      return native_kernels().rep_movsb;
    case CopyKernel::nontemporal:
      return native_kernels().nontemporal;
    case CopyKernel::prefetch_write:
      return native_kernels().prefetch_write;
    case CopyKernel::abreast:
      return native_kernels().abreast;
  }
  return false;
}

void copy_bytes(CopyKernel kernel, void* target, const void* source, std::size_t n) {
  if (n == 0) return;  // memcpy and friends may not see null pointers, not even for nothing
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  switch (kernel) {
    case CopyKernel::plain:
      std::memcpy(to, from, n);
      return;
    case CopyKernel::rep_movsb:
      copy_rep_movsb(to, from, n);
      return;
    case CopyKernel::nontemporal:
      copy_nontemporal(to, from, n);
      return;
    case CopyKernel::prefetch_write:
      copy_prefetch_write(to, from, n);
      return;
    case CopyKernel::abreast:
      copy_abreast(to, from, n);
      return;
  }
}

namespace {

// Volatile: a store that changes nothing is one that a compiler leaves out.
void store_again(volatile std::byte& byte) { byte = byte; }

}  // namespace

void take_bytes(void* target, void* source, std::size_t n) {
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

void keep_bytes(void* bytes, std::size_t n) {
  auto* all = static_cast<std::byte*>(bytes);
  for (std::size_t at = 0; at < n; at += line_bytes) store_again(all[at]);
  if (n > 0) store_again(all[n - 1]);
}

}  // namespace huddle::memory
