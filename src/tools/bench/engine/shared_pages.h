// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory that a process shares with those that it forks: mapped before, placed on the node of the
// rank that touches it first.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace huddle::bench {

class SharedPages {
 public:
  // Throws FailureError where there is no memory.
  explicit SharedPages(std::size_t bytes);
  ~SharedPages();
  SharedPages(SharedPages&& other) noexcept;
  SharedPages& operator=(SharedPages&& other) noexcept;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Things in such memory. They are there once one process, the one they should lie near, has built
// them.
template <class T>
class Shared {
 public:
  static_assert(std::is_trivially_destructible_v<T>);
  explicit Shared(std::size_t count = 1) : pages_(count * sizeof(T)), count_(count) {}

  void build() const {
    for (std::size_t i = 0; i < count_; ++i) new (pages_.data() + i * sizeof(T)) T();
  }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) const { return first()[i]; }
  T& operator[](int rank) const { return first()[rank]; }
  T& operator*() const { return *first(); }
  T* operator->() const { return first(); }

 private:
  T* first() const { return std::launder(reinterpret_cast<T*>(pages_.data())); }

  SharedPages pages_;
  std::size_t count_;
};

}  // namespace huddle::bench
