// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Two threads write to one array: shared_arrays CPU_SECONDS [mapped]. It is a global variable or,
// with "mapped", in anonymous shared memory.
#include <sys/mman.h>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <thread>

// A pass takes longer than the observer needs to protect the pages: it may run on the processor of
// one thread meanwhile, and the other thread must not write to all pages first. Less than a huge
// page.
constexpr std::size_t longs = 131072, longs_a_line = 8;

extern "C" {
// Zero-initialized, so its pages are not in the file. The test looks for the name of this variable.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
alignas(4096) std::atomic<long> array_of_two_threads[longs];
}

namespace {

// The threads pass over the array in opposite directions, so that neither is always the first one
// to write to a page.
void work(std::atomic<long>* array, bool is_backward, double cpu_seconds) {
  while (static_cast<double>(std::clock()) < cpu_seconds * CLOCKS_PER_SEC) {
    for (std::size_t i = 0; i < longs; i += longs_a_line) {
      array[is_backward ? longs - 1 - i : i].fetch_add(1, std::memory_order_relaxed);
    }
  }
}

std::atomic<long>* mapped_array() {
  void* const memory = ::mmap(nullptr, longs * sizeof(std::atomic<long>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<long>*>(memory);
}

}  // namespace

int main(int argc, char** argv) {
  // CPU time, because other programs may use most of the machine.
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  std::atomic<long>* const array = argc > 2 ? mapped_array() : array_of_two_threads;
  if (array == nullptr) return 1;
  std::thread other(work, array, true, seconds);
  work(array, false, seconds);
  other.join();
  return 0;
}
