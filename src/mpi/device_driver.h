// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What knows of a device's memory in this process: the drivers of CUDA, ROCm and Level Zero, as
// libraries that somebody else has loaded.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace huddle::mpi {

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

}  // namespace huddle::mpi
