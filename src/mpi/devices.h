// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which memory of this process is a device's. A program may load a device's driver at any time.
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

// Whether any library was loaded into this process since last time, by whomever and however, told
// by a load or two: the loader keeps a list of what is loaded, where what is new comes last. So a
// library of our own with nothing in it stands at its end, until something stands behind it.
class LibraryLoadMonitor {
 public:
  // Where a thread says that it looks at the end of the list right now, so that nobody takes it
  // away: in a place that it shares with nobody who looks at the same time.
  using Looking = std::atomic<bool>;

  // marker: the file of that library. Where it cannot be loaded there is always news.
  explicit LibraryLoadMonitor(std::string marker);
  ~LibraryLoadMonitor();
  LibraryLoadMonitor(const LibraryLoadMonitor&) = delete;
  LibraryLoadMonitor& operator=(const LibraryLoadMonitor&) = delete;

  // Also before the first catch_up().
  bool has_news(Looking& looking) const {
    looking.store(true, std::memory_order_relaxed);
    fence_.frequent_side();
    const link_map* const last = last_.load(std::memory_order_acquire);
    const bool has = last == nullptr || is_followed(*last);
    looking.store(false, std::memory_order_release);
    return has;
  }

  // What is loaded from here on is news. wait_for_lookers: returns when all who looked when it was
  // called have done so. pre: for one thread at a time, which does not look meanwhile.
  void catch_up(const std::function<void()>& wait_for_lookers);

 private:
  // The loader writes there, under a lock of its own.
  static bool is_followed(const link_map& library) {
    return __atomic_load_n(&library.l_next, __ATOMIC_RELAXED) != nullptr;
  }

  std::string marker_;
  memory::OneSidedFence fence_;
  void* handle_ = nullptr;
  bool is_missing_ = false;
  std::atomic<const link_map*> last_{nullptr};
};

// What knows of a device's memory in this process: the drivers of CUDA, ROCm and Level Zero, as
// libraries that somebody else has loaded.

// For several threads.
class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;
  // Whether it is memory that a host had better not touch: a device's, or what moves between the
  // two. A host's memory that devices may use is the host's; so is what the driver does not know,
  // and everything before the program has started it.
  virtual bool holds(const void* address) const = 0;
};

// By the name of its library, without what follows ".so".
struct DriverKind {
  std::string_view library;
  // From its handle, which stays open. Null where it has not what is needed.
  std::unique_ptr<DeviceDriver> (*make)(void* handle);
};

std::unique_ptr<DeviceDriver> cuda_driver(void* handle);
std::unique_ptr<DeviceDriver> hip_driver(void* handle);
std::unique_ptr<DeviceDriver> level_zero_driver(void* handle);

// For several threads.
class Devices {
 public:
  // For LibraryLoadMonitor.
  Devices(std::string marker, std::function<void()> wait_for_lookers);

  // Whether anybody is here who might know of a device's memory: nobody in most programs.
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
  std::mutex mutex_;  // for whoever looks again
  unsigned long long loads_ = 0;
  std::array<Driver, kinds.size()> drivers_;
};

}  // namespace huddle::mpi
