// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Collects the parts of a profile from ranks that cannot write to the profile's folder because
// their host shares no file system with this one. The parts arrive over TCP and not over the MPI,
// so that huddle adds no collective call and does not wait for ranks without the library.
#pragma once

#include <string>
#include <string_view>
#include <thread>

namespace huddle::profile {

// Accepts parts until it is destroyed. Must outlive the profiled ranks.
class Collector {
 public:
  // Writes each part that arrives to a file in `folder`. Throws FailureError if no socket is
  // available.
  explicit Collector(std::string folder);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // Returns "TOKEN@ADDRESS,ADDRESS...", the argument of deliver().
  const std::string& address() const { return address_; }
  int port() const { return port_; }

 private:
  void serve();
  void take(int connection);

  std::string folder_;
  std::string token_;
  std::string address_;
  int port_ = 0;
  int observer_ = -1;
  int stop_ = -1;  // readable once the thread has to stop
  int taken_ = 0;
  std::thread thread_;
};

// Sends `bytes` to the collector at `address`. Returns whether it confirmed that it wrote them.
bool deliver(std::string_view address, std::string_view bytes);

}  // namespace huddle::profile
