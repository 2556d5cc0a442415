// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which memory of this process is a device's. A program may load a device's driver at any time.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "mpi/device_driver.h"
#include "mpi/library_load_monitor.h"

namespace huddle::mpi {

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
