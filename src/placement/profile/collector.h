// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Takes parts from ranks that do not see the folder where parts are kept: those on hosts without a
// file system in common with this one. Their MPI is not asked to carry anything, so that no call of
// ours is collective, and ranks without this library keep nobody waiting.
#pragma once

#include <string>
#include <string_view>
#include <thread>

namespace huddle::profile {

// Lives as long as ranks run.
class Collector {
 public:
  // What comes is written into `folder`. Throws FailureError where the system has no socket.
  explicit Collector(std::string folder);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // "TOKEN@ADDRESS,ADDRESS...": all that deliver() has to know.
  const std::string& address() const { return address_; }
  int port() const { return port_; }

 private:
  void serve();
  void take(int connection);

  std::string folder_;
  std::string token_;
  std::string address_;
  int port_ = 0;
  int listener_ = -1;
  int stop_ = -1;  // readable when the thread is to end
  int taken_ = 0;
  std::thread thread_;
};

// Whether the collector at this address has confirmed that it holds these bytes.
bool deliver(std::string_view address, std::string_view bytes);

}  // namespace huddle::profile
