// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/store_buffer.h"

#include <algorithm>
#include <utility>

namespace huddle::check::checker {

bool StoreBuffer::must_queue(std::size_t first, std::size_t n, bool is_release) const {
  if (pending_.empty()) return false;
  if (is_release || order_ == StoreOrder::x86) return true;
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const PendingStore& store) { return store.overlaps(first, n); });
}

// Returns whether no earlier store delays the store at this index.
bool StoreBuffer::is_free(std::size_t index) const {
  if (index == 0) return true;
  const PendingStore& store = pending_[index];
  if (store.is_release || order_ == StoreOrder::x86) return false;
  const auto end = pending_.begin() + static_cast<std::ptrdiff_t>(index);
  return std::none_of(pending_.begin(), end, [&](const PendingStore& earlier) {
    return earlier.overlaps(store.first, store.bytes.size());
  });
}

std::optional<PendingStore> StoreBuffer::take_ready() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (!pending_[i].is_held && is_free(i)) return take(i);
  }
  return std::nullopt;
}

PendingStore StoreBuffer::take_oldest() { return take(0); }

std::optional<PendingStore> StoreBuffer::take_update(std::size_t first) {
  if (pending_.empty() || !pending_.front().is_update || pending_.front().first != first) {
    return std::nullopt;
  }
  return take(0);
}

PendingStore StoreBuffer::take(std::size_t index) {
  PendingStore taken = std::move(pending_[index]);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  return taken;
}

void StoreBuffer::lay_over(std::size_t first, std::span<std::byte> bytes) const {
  for (const PendingStore& store : pending_) {
    if (!store.overlaps(first, bytes.size())) continue;
    const std::size_t begin = std::max(first, store.first);
    const std::size_t end = std::min(first + bytes.size(), store.first + store.bytes.size());
    std::copy_n(store.bytes.begin() + static_cast<std::ptrdiff_t>(begin - store.first), end - begin,
                bytes.begin() + static_cast<std::ptrdiff_t>(begin - first));
  }
}

bool StoreBuffer::has_flag(std::size_t first, std::size_t n) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const PendingStore& store) {
    return store.is_flag && store.overlaps(first, n);
  });
}

}  // namespace huddle::check::checker
