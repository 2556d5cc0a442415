// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Measurements by the ranks of several nodes. The ranks share neither memory nor a clock, so each
// times its own part, and the slowest rank determines the result.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/mpi/ranks/sides.h"

namespace huddle::bench::network {

// Prints a line for the process that started the job.
void say(std::string_view word, const std::string& rest);

class Ranks {
 public:
  // Collective. Throws std::runtime_error if the MPI is not usable.
  explicit Ranks(const ranks::Sides& sides);
  void measure(bool quick);

 private:
  void find_hosts();
  bool is_reporting_rank() const { return rank_ == 0; }
  void begin_step(std::string_view name) const;
  // Waits for all ranks in a barrier in which waiting ranks sleep.
  void meet() const;
  double slowest(double ns) const;

  void measure_messages();
  void measure_both_ways();
  double exchange_ns(int peer, std::size_t piece_bytes, double later_ns) const;
  void measure_cpu();
  void measure_senders();
  void measure_calls(bool quick);
  void measure_call(Operation operation, std::size_t bytes);
  void call(Operation operation, const ranks::CallData& at) const;
  void send(const std::vector<std::byte>& data, std::size_t bytes, int to) const;
  void receive(std::vector<std::byte>& data, std::size_t bytes, int from) const;

  const ranks::Sides& sides_;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<int> host_of_;  // by rank; hosts are numbered in the order of their first ranks
  int hosts_ = 0;
  std::vector<int> senders_;    // the ranks of the first host that have a partner
  std::vector<int> receivers_;  // their partners on the second
  // One-way time of both_ways_bytes, on the rank that measures it.
  double whole_one_way_ns_ = 0;
};

}  // namespace huddle::bench::network
