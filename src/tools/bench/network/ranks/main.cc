// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The program that `huddle calibrate --network` starts as the ranks of a job over several nodes. It
// measures messages between nodes and the MPI's own collectives. Rank 0 reports the results in the
// format of result_lines.h. It is built once for each ABI.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tools/bench/mpi/order.h"
#include "tools/bench/mpi/ranks/sides.h"
#include "tools/bench/network/ranks/measure.h"
#include "tools/bench/network/result_lines.h"

// Usage: huddle-network-ABI MPI-LIBRARY [quick]
int main(int argc, char** argv) {
  using namespace huddle::bench;
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() < 2) {
    std::cerr << "this program is a part of huddle calibrate --network; run that instead\n";
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const ranks::Sides sides = ranks::open_sides(words[1], std::string(no_back_end));
    if (sides.service.init(&argc, &argv) != huddle::mpi::success) return 1;
    try {
      network::Ranks(sides).measure(words.size() > 2);
    } catch (const std::exception& error) {
      network::say(network::word_failed, error.what());
      sides.service.abort(sides.world, 1);
    }
    sides.service.finalize();
  } catch (const std::exception& error) {
    network::say(network::word_failed, error.what());
    return 1;
  }
  return 0;
}
