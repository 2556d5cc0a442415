// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Starts ranks on several nodes that measure the network between them, and reads their output.
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
  bool in_order = true;  // the ranks of each host are consecutive
  std::string mpi;       // name and version
  machine::Network network;
  std::vector<machine::MpiCollective> collectives;
};

class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void begin_step(std::string_view name) = 0;
};

// Parses the output of the ranks as it arrives.
class Reader {
 public:
  // Keeps a reference to `watcher`.
  explicit Reader(Watcher& watcher) : watcher_(watcher) {}

  void read(std::string_view more);
  // Returns the results. Throws FailureError if the ranks did not complete, with their message, or
  // if they are all on one host.
  Measured take();

 private:
  void read_line(const std::string& line);
  void judge_both_ways();
  void add_call(const std::string& operation, double bytes, double ns, double spread);

  Watcher& watcher_;
  Measured measured_;
  machine::Curve both_ways_;  // by piece size; the first entry is the whole message
  std::string unread_;
  std::string failure_;
  std::string last_lines_;  // that are not part of the protocol
  bool is_done_ = false;
};

// Runs `command` and returns what its ranks measured. Throws Stopped once `stop` is set, and
// FailureError if the command cannot be started or its ranks do not complete.
Measured measure(const Spawned& command, Watcher& watcher, const std::atomic<bool>& stop);

}  // namespace huddle::bench::network
