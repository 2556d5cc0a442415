// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Starts ranks on several nodes that measure what lies between them, and reads what they say.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/mpi/timed_run.h"

namespace huddle::bench::network {

struct Measured {
  int hosts = 0;
  int ranks = 0;
  bool in_order = true;  // the ranks of each host follow each other
  std::string mpi;       // name and version
  machine::Network network;
  std::vector<machine::MpiCollective> collectives;
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin_step(std::string_view name) = 0;
};

// What the ranks say, as it comes in.
class Reader {
 public:
  // Keeps a reference.
  explicit Reader(Watcher& watcher) : watcher_(watcher) {}

  void read(std::string_view more);
  // What they measured. Throws FailureError with a sentence where they did not come to their end:
  // what ranks said, or that they are all on one host.
  Measured take();

 private:
  void read_line(const std::string& line);
  void judge_both_ways();
  void add_call(const std::string& operation, double bytes, double ns, double spread);

  Watcher& watcher_;
  Measured measured_;
  machine::Curve both_ways_;  // by the bytes of a piece, the first one whole
  std::string unread_;
  std::string failure_;
  std::string last_lines_;  // that are not for us
  bool is_done_ = false;
};

// Throws FailureError where ranks do not come up or measure nothing, and Stopped.
Measured measure(const Spawned& command, Watcher& watcher, const std::atomic<bool>& stop);

}  // namespace huddle::bench::network
