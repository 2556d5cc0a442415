// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Detects device memory in this process. The program may load a device driver at any time.
#pragma once

#include <link.h>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/memory/one_sided_fence.h"

namespace huddle::mpi {

// Detects with one or two loads whether any library was loaded into this process since the last
// check. The loader appends new libraries to its list, so the monitor keeps an empty library (the
// marker) at the end of it; the marker has a successor once another library is loaded.
class LibraryLoadMonitor {
 public:
  // Set by a thread while it reads the end of the list, so that catch_up() does not remove the
  // marker meanwhile. Concurrent readers use one flag each.
  using Looking = std::atomic<bool>;

  // `marker` is the file of the empty library. If it cannot be loaded, has_news() is always true.
  explicit LibraryLoadMonitor(std::string marker);
  ~LibraryLoadMonitor();
  LibraryLoadMonitor(const LibraryLoadMonitor&) = delete;
  LibraryLoadMonitor& operator=(const LibraryLoadMonitor&) = delete;

  // May be called before the first catch_up(), and then returns true.
  bool has_news(Looking& looking) const {
    looking.store(true, std::memory_order_relaxed);
    fence_.frequent_side();
    const link_map* const last = last_.load(std::memory_order_acquire);
    const bool has = last == nullptr || is_followed(*last);
    looking.store(false, std::memory_order_release);
    return has;
  }

  // Libraries that are loaded from now on count as news. `wait_for_lookers` must return once every
  // thread that was in has_news() at the time of the call has left it.
  // Requires: one thread at a time, which is not in has_news().
  void catch_up(const std::function<void()>& wait_for_lookers);

 private:
  // Atomic because the loader writes l_next under a lock of its own.
  static bool is_followed(const link_map& library) {
    return __atomic_load_n(&library.l_next, __ATOMIC_RELAXED) != nullptr;
  }

  std::string marker_;
  memory::OneSidedFence fence_;
  void* handle_ = nullptr;
  bool is_missing_ = false;
  std::atomic<const link_map*> last_{nullptr};
};

// Interface to a device driver (CUDA, ROCm or Level Zero) that the program has loaded. Thread-safe.
class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;
  // Returns true if the host should not access this memory: device memory, or managed memory that
  // migrates between the two. Host memory that devices may access is the host's, and so is memory
  // unknown to the driver, which includes all memory before the program has initialized the driver.
  virtual bool holds(const void* address) const = 0;
};

// A kind of driver, identified by the name of its library without ".so" and the version.
struct DriverKind {
  std::string_view library;
  // Uses the library's handle, which stays open. Returns null if a function is missing.
  std::unique_ptr<DeviceDriver> (*make)(void* handle);
};

std::unique_ptr<DeviceDriver> cuda_driver(void* handle);
std::unique_ptr<DeviceDriver> hip_driver(void* handle);
std::unique_ptr<DeviceDriver> level_zero_driver(void* handle);

// Finds device memory by querying the drivers that are loaded. Thread-safe.
class Devices {
 public:
  // The arguments are those of LibraryLoadMonitor and its catch_up().
  Devices(std::string marker, std::function<void()> wait_for_lookers);

  // Returns whether a driver is loaded, which is false in most programs.
  bool have_driver(LibraryLoadMonitor::Looking& looking) {
    if (watch_.has_news(looking)) [[unlikely]]
      look_again(looking);
    return have_driver_.load(std::memory_order_relaxed);
  }
  bool hold(const void* address) const;

 private:
  static constexpr std::array kinds{DriverKind{"libcuda", cuda_driver},
                                    DriverKind{"libamdhip64", hip_driver},
                                    DriverKind{"libze_loader", level_zero_driver}};
  struct Driver {
    std::atomic<const DeviceDriver*> driver{nullptr};
    std::unique_ptr<DeviceDriver> owned;
  };

  void look_again(LibraryLoadMonitor::Looking& looking);
  void look_for_drivers();

  std::function<void()> wait_for_lookers_;
  LibraryLoadMonitor watch_;
  std::atomic<bool> have_driver_{false};
  std::mutex mutex_;  // serializes look_again()
  unsigned long long loads_ = 0;
  std::array<Driver, kinds.size()> drivers_;
};

}  // namespace huddle::mpi
