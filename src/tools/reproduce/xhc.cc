// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// M. Katevenis and others: the flat broadcast of XHC, simulated for numbers of ranks and sizes at
// which it was timed.
#include "tools/reproduce/xhc.h"

#include <fmt/format.h>

#include <numeric>

#include "runtime/node/flat_pull_bcast.h"
#include "simulate/protocols/model/simulated_context.h"
#include "tools/reproduce/experiment.h"

namespace huddle::reproduce {

using context::Region;
using protocols::model::SimulatedContext;

std::vector<double> flat_bcast_ns(const machine::Machine& machine, int ranks, std::size_t bytes) {
  const machine::CostModel model(machine);
  protocols::model::Job job;
  job.pus = machine::first_pu_of_cores(machine.topology);
  job.pus.resize(static_cast<std::size_t>(ranks));
  job.reachable = true;
  job.body = [&](SimulatedContext& ctx) {
    node::FlatPullBcast protocol({}, context::first_sequence);
    constexpr int calls = 3;  // the first two bring flags and data to where later calls find them
    for (int call = 0; call < calls; ++call) {
      if (ctx.rank() == 0) ctx.caller_wrote({Region::input, 0, 0}, bytes);
      if (ctx.rank() != 0) ctx.caller_read({Region::output, ctx.rank(), 0}, bytes);
      ctx.meet();
      protocol.run(ctx, bytes, 0);
    }
  };
  return protocols::model::run(job, model).ns;
}

double mean_of(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

namespace {

OfMachine mean_us(int ranks, std::size_t bytes) {
  return [=](const machine::Machine& machine) {
    constexpr double ns_per_us = 1000;
    return mean_of(flat_bcast_ns(machine, ranks, bytes)) / ns_per_us;
  };
}

}  // namespace

// A selection of the published numbers of ranks and sizes, such as mean-12-4096.
std::vector<Experiment> xhc_experiments() {
  std::vector<Experiment> all;
  for (const int ranks : {2, 4, 8, 12}) {
    for (const std::size_t bytes : {4, 64, 512, 4096, 16384, 65536}) {
      all.push_back({fmt::format("mean-{}-{}", ranks, bytes), mean_us(ranks, bytes)});
    }
  }
  return all;
}

}  // namespace huddle::reproduce
