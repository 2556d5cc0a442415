// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/back_end/neighbours.h"

#include <cstddef>

namespace huddle::profile {
namespace {

std::vector<int> on_grid(const Mpi& mpi, Comm comm) {
  int dimensions = 0;
  mpi.cartdim_get(comm, &dimensions);
  std::vector<int> neighbours;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int below = -1;
    int above = -1;
    mpi.cart_shift(comm, dimension, 1, &below, &above);
    neighbours.push_back(below);
    neighbours.push_back(above);
  }
  return neighbours;
}

std::vector<int> on_graph(const Mpi& mpi, Comm comm, int own_rank) {
  int count = 0;
  mpi.graph_neighbors_count(comm, own_rank, &count);
  std::vector<int> neighbours(static_cast<std::size_t>(count));
  mpi.graph_neighbors(comm, own_rank, count, neighbours.data());
  return neighbours;
}

std::vector<int> on_distributed_graph(const Mpi& mpi, Comm comm) {
  int in = 0;
  int out = 0;
  int is_weighted = 0;
  mpi.dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
  std::vector<int> sources(static_cast<std::size_t>(in)), in_weights(sources.size());
  std::vector<int> targets(static_cast<std::size_t>(out)), out_weights(targets.size());
  mpi.dist_graph_neighbors(comm, in, sources.data(), in_weights.data(), out, targets.data(),
                           out_weights.data());
  return targets;
}

}  // namespace

std::vector<int> neighbours_of(const Mpi& mpi, Comm comm, int own_rank) {
  int topology = undefined;
  mpi.topo_test(comm, &topology);
  if (topology == cart) return on_grid(mpi, comm);
  if (topology == graph) return on_graph(mpi, comm, own_rank);
  if (topology == dist_graph) return on_distributed_graph(mpi, comm);
  return {};
}

}  // namespace huddle::profile
