// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle-judge-simgrid: simulates the schedule of `huddle sim` on the same links with SimGrid,
// which recomputes link rates whenever a message begins or ends, or the algorithm of the same name
// with SMPI, SimGrid's own MPI. `huddle sim --reference JUDGE` calls it with arguments KEY=VALUE
// (question.h). It prints the time in nanoseconds until the last rank has finished.
//
// Both simulators model CPU time, latencies, rates, the limit of a single message, and the
// dependencies between ranks. Only huddle models the gap between two messages of a NIC.
#include <fmt/format.h>

#include <cstdio>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "common/error.h"
#include "model/fabric/fabric.h"
#include "runtime/schedules/algorithms.h"
#include "simulate/network/simgrid/platform.h"

namespace {

using namespace huddle;

judge::Job job_of(const network::Question& question) {
  judge::Job job{question, fabric::load_cluster(question.fabric, question.machine), {}, {}};
  job.schedule =
      schedules::make_schedule(schedules::algorithm_named(question.algorithm), question.call);
  job.node_of_rank =
      fabric::place(job.cluster.fabric, question.call.ranks, question.placement, question.seed);
  return job;
}

double answer(const judge::Job& job) {
  switch (job.question.judge) {
    case network::Judge::simgrid:
      return judge::schedule_ns(job, false);
    case network::Judge::simgrid_in_order:
      return judge::schedule_ns(job, true);
    case network::Judge::smpi:
      return judge::smpi_ns(job);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const judge::Job job = job_of(network::question({argv + 1, argv + argc}));
    // SimGrid reads settings from a command line. Logs only its critical errors.
    std::string log = "--log=root.thres:critical";
    std::vector<char*> own = {argv[0], log.data(), nullptr};
    int count = 2;
    simgrid::s4u::Engine engine(&count, own.data());
    fmt::print("{:.17g}\n", answer(job));
    return 0;
  } catch (const huddle::Error& error) {
    fmt::print(stderr, "huddle-judge-simgrid: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
