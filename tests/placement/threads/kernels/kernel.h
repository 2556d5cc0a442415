// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Small kernels whose threads share memory like those of the NAS Parallel Benchmarks. They are an
// independent implementation, and check their results. They add to a neighbour's plane that NPB
// only reads, since only writes are observed.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace huddle::kernels {

inline constexpr int threads = 8;

using Meeting = std::barrier<>;

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Executes one step. Called repeatedly by all threads, which are synchronized between steps.
  virtual void step(int thread, Meeting& meeting) = 0;
  // Returns whether the result is correct after `steps` steps, 10 or more.
  virtual bool is_right(int steps) const = 0;
};

std::unique_ptr<Kernel> make_sp();  // SP and BT: solves lines in three directions
std::unique_ptr<Kernel> make_lu();  // sweeps in which each thread follows the previous one
std::unique_ptr<Kernel> make_ft();  // Fourier transforms with a transposition in between
std::unique_ptr<Kernel> make_ep();  // private random numbers
std::unique_ptr<Kernel> make_is();  // counting sort of integers
std::unique_ptr<Kernel> make_cg();  // conjugate gradients with a sparse matrix
std::unique_ptr<Kernel> make_mg();  // multigrid

inline constexpr std::size_t page_bytes = 4096;

// An array of whole pages, which shares no page with other arrays.
template <typename T>
class Pages {
 public:
  explicit Pages(std::size_t size)
      : size_(size), values_(new (std::align_val_t(page_bytes)) T[rounded(size)]()) {}
  ~Pages() { ::operator delete[](values_, std::align_val_t(page_bytes)); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  T* from(std::size_t i) { return values_ + i; }

 private:
  static std::size_t rounded(std::size_t size) {
    constexpr std::size_t a_page = page_bytes / sizeof(T);
    return (size + a_page - 1) / a_page * a_page;
  }
  std::size_t size_;
  T* values_;
};

// The part of `all` items that belongs to a thread.
struct Share {
  int first, last;
  Share(int thread, int all) : first(all * thread / threads), last(all * (thread + 1) / threads) {}
};

// The stage that each thread has reached, for threads that follow it.
class Progress {
 public:
  void tell(int thread, int stage) {
    at_[static_cast<std::size_t>(thread)].stage.store(stage, std::memory_order_release);
    at_[static_cast<std::size_t>(thread)].stage.notify_all();
  }
  void wait_for(int thread, int stage) const {
    const std::atomic<int>& now = at_[static_cast<std::size_t>(thread)].stage;
    for (int seen = now.load(std::memory_order_acquire); seen < stage;
         seen = now.load(std::memory_order_acquire)) {
      now.wait(seen, std::memory_order_acquire);
    }
  }

 private:
  struct alignas(64) Line {
    std::atomic<int> stage = 0;
  };
  Line at_[threads];
};

// Returns the next number of SplitMix64.
inline std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}
inline double fraction(std::uint64_t& state) {
  return static_cast<double>(next_random(state) >> 11U) * 0x1.0p-53;
}

}  // namespace huddle::kernels
