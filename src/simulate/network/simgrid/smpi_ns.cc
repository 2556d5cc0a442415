// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#define SMPI_NO_OVERRIDE_MALLOC
#include <smpi/mpi.h>
#undef main

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "simulate/network/simgrid/platform.h"

namespace huddle::judge {
namespace {

namespace s4u = simgrid::s4u;

constexpr const char* program = "allgather";

void set(const std::string& key, const std::string& value) {
  s4u::Engine::set_config(fmt::format("{}:{}", key, value));
}

// Returns the rates of single messages for all sizes that these algorithms send: a block times a
// power of two. SMPI expects rates as fractions of the bandwidth of the links on the route.
std::string parts_of_bandwidth(const Job& job) {
  std::string parts = "0:1";
  double bytes = job.question.block_bytes;
  for (int blocks = 1; bytes > 0 && blocks < job.ranks(); blocks *= 2, bytes *= 2) {
    const double limit = own_limit_gb_per_s(job.network(), bytes);
    parts += fmt::format(";{:.0f}:{}", bytes, std::min(1.0, limit / job.network().node_gb_per_s));
  }
  return parts;
}

// Sets the CPU time per message and the size at which the rendezvous protocol begins.
void set_costs(const Job& job) {
  const machine::Network& network = job.network();
  for (const char* key : {"smpi/os", "smpi/ois", "smpi/or"}) {
    set(key, fmt::format("0:{}:0", network.cpu_ns / ns_a_tick));
  }
  const double eager = network.rendezvous_bytes ? *network.rendezvous_bytes : 1 << 30;
  for (const char* key : {"smpi/async-small-thresh", "smpi/send-is-detached-thresh"}) {
    set(key, fmt::format("{:.0f}", eager));
  }
}

Pairs all_pairs(int ranks) {
  Pairs pairs;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to) pairs.emplace(from, to);
    }
  }
  return pairs;
}

// Runs MPI_Allgather and returns the time when this rank has finished. MPI_Init takes no simulated
// time.
double gather(const Job& job) {
  const auto bytes = static_cast<std::size_t>(job.question.block_bytes);
  std::vector<char> mine(bytes);
  std::vector<char> all(bytes * static_cast<std::size_t>(job.ranks()));
  MPI_Init(nullptr, nullptr);
  const int count = static_cast<int>(bytes);
  MPI_Allgather(mine.data(), count, MPI_CHAR, all.data(), count, MPI_CHAR, MPI_COMM_WORLD);
  const double ns = s4u::Engine::get_clock() * ns_a_tick;
  MPI_Finalize();
  return ns;
}

}  // namespace

double smpi_ns(const Job& job) {
  smpi_init_options();
  set("smpi/allgather", std::string(network::smpi_algorithm(job.question.algorithm)));
  for (const char* setting :
       {"network/model:SMPI", "network/TCP-gamma:1e30", "network/weight-S:0",
        "network/crosstraffic:0", "smpi/lat-factor:0:1", "smpi/simulate-computation:no"}) {
    s4u::Engine::set_config(setting);
  }
  set("smpi/bw-factor", parts_of_bandwidth(job));
  set_costs(job);
  SMPI_init();
  const Platform platform(job, all_pairs(job.ranks()));
  SMPI_app_instance_register(program, nullptr, job.ranks());
  double end_ns = 0;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const s4u::ActorPtr actor = s4u::Actor::create("rank", platform.host(rank),
                                                   [&] { end_ns = std::max(end_ns, gather(job)); });
    actor->set_property("instance_id", program);
    actor->set_property("rank", std::to_string(rank));
  }
  s4u::Engine::get_instance()->run();
  return end_ns;
}

}  // namespace huddle::judge
