// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Counts the logical traffic of collectives: the bytes that each rank has to send to each other
// rank for the operation's result. The sender counts, as everywhere in a profile.

#include <array>
#include <cctype>
#include <cstddef>
#include <vector>

#include "mpi/back_end/mpi_names.h"
#include "placement/profile/back_end/profiled_mpi.h"
#include "placement/profile/back_end/profiler.h"
#include "placement/profile/stub/note.h"

namespace huddle::profile {

// Returns the ranks of `comm` to which this rank sends in a neighbourhood collective, in the order
// of the blocks of the send buffer. Negative entries are absent neighbours, which still have a
// block. Returns no ranks if `comm` has no topology.
std::vector<int> neighbours_of(const Mpi& mpi, Comm comm, int own_rank);

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

namespace {

// A collective call, with access to the sizes that its arguments describe.
struct Scene {
  const Mpi& mpi;
  const CollectiveCall& call;
  Comm comm;
  Peers& peers;
  TypeSizes& sizes;

  std::uint64_t bytes(int count, int type) const {
    return static_cast<std::uint64_t>(call.count(count)) * sizes.bytes_of(call.type(type));
  }
  // Returns the bytes of block `rank` in an array of counts.
  std::uint64_t bytes_of(int rank, int counts, int type) const {
    return static_cast<std::uint64_t>(call.count(counts, rank)) * sizes.bytes_of(call.type(type));
  }
  // Returns the bytes of block `rank` if each block also has a type of its own.
  std::uint64_t bytes_by_types(int rank, int counts, int types) const {
    return static_cast<std::uint64_t>(call.count(counts, rank)) *
           sizes.bytes_of(call.type(types, rank));
  }
  // On an intercommunicator the root passes MPI_ROOT as root.
  bool is_root(int root) const {
    return call.number(root) == (peers.is_remote() ? root_itself : peers.own_rank());
  }
  void to_one(int rank, std::uint64_t bytes) const {
    if (rank < 0 || rank == peers.own_rank()) return;
    Flow& flow = peers.flow(rank, FlowKind::collective, Way::to_other);
    flow.bytes += bytes;
    ++flow.messages;
  }
  template <class Bytes>
  void to_each(const Bytes& bytes) const {
    for (int rank = 0; rank < peers.size(); ++rank) to_one(rank, bytes(rank));
  }
  // Sends a block to each neighbour in the order of the topology. A neighbour that occurs twice
  // gets two.
  template <class Bytes>
  void to_neighbours(const Bytes& bytes) const {
    const std::vector<int> neighbours = neighbours_of(mpi, comm, peers.own_rank());
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      to_one(neighbours[i], bytes(static_cast<int>(i)));
    }
  }
  void to_root(int root, std::uint64_t bytes) const {
    if (!is_root(root)) to_one(call.number(root), bytes);
  }
};

// One operation: the index of its communicator argument and the function that counts its traffic.
struct Operation {
  std::string_view name;
  int comm;
  void (*count)(const Scene&);
};

// With MPI_IN_PLACE, the data to send are in the receive buffer.
void allgather(const Scene& s) {
  s.peers.to_each(s.call.is_in_place() ? s.bytes(4, 5) : s.bytes(1, 2));
}
void allgatherv(const Scene& s) {
  s.peers.to_each(s.call.is_in_place() ? s.bytes_of(s.peers.own_rank(), 4, 6) : s.bytes(1, 2));
}
void alltoallv(const Scene& s) {
  const bool in_place = s.call.is_in_place();
  s.to_each([&](int rank) { return in_place ? s.bytes_of(rank, 5, 7) : s.bytes_of(rank, 1, 3); });
}
void alltoallw(const Scene& s) {
  const bool in_place = s.call.is_in_place();
  s.to_each([&](int rank) {
    return in_place ? s.bytes_by_types(rank, 5, 7) : s.bytes_by_types(rank, 1, 3);
  });
}
void bcast(const Scene& s) {
  if (s.is_root(3)) s.peers.to_each(s.bytes(1, 2));
}
void gather(const Scene& s) { s.to_root(6, s.is_root(6) ? 0 : s.bytes(1, 2)); }
void gatherv(const Scene& s) { s.to_root(7, s.is_root(7) ? 0 : s.bytes(1, 2)); }
void scatter(const Scene& s) {
  if (s.is_root(6)) s.peers.to_each(s.bytes(1, 2));
}
void scatterv(const Scene& s) {
  if (s.is_root(7)) s.to_each([&](int rank) { return s.bytes_of(rank, 1, 3); });
}
void reduce(const Scene& s) { s.to_root(5, s.is_root(5) ? 0 : s.bytes(2, 3)); }
// On an intercommunicator each group receives the result of the other group.
void allreduce(const Scene& s) {
  if (s.peers.is_remote()) return s.peers.to_each(s.bytes(2, 3));
  s.peers.in_parts(s.bytes(2, 3));
}
void reduce_scatter(const Scene& s) {
  s.to_each([&](int rank) { return s.bytes_of(rank, 2, 3); });
}
void reduce_scatter_block(const Scene& s) { s.peers.to_each(s.bytes(2, 3)); }
void scan(const Scene& s) {
  const int next = s.peers.own_rank() + 1;
  if (next < s.peers.size()) s.to_one(next, s.bytes(2, 3));
}

void neighbor_alike(const Scene& s) {
  s.to_neighbours([&](int) { return s.bytes(1, 2); });
}
void neighbor_alltoallv(const Scene& s) {
  s.to_neighbours([&](int i) { return s.bytes_of(i, 1, 3); });
}
void neighbor_alltoallw(const Scene& s) {
  s.to_neighbours([&](int i) { return s.bytes_by_types(i, 1, 3); });
}

constexpr std::array operations = {
    Operation{"Bcast", 4, bcast},
    Operation{"Gather", 7, gather},
    Operation{"Gatherv", 8, gatherv},
    Operation{"Scatter", 7, scatter},
    Operation{"Scatterv", 8, scatterv},
    Operation{"Allgather", 6, allgather},
    Operation{"Allgatherv", 7, allgatherv},
    Operation{"Alltoall", 6, allgather},
    Operation{"Alltoallv", 8, alltoallv},
    Operation{"Alltoallw", 8, alltoallw},
    Operation{"Reduce", 6, reduce},
    Operation{"Allreduce", 5, allreduce},
    Operation{"Reduce_scatter", 5, reduce_scatter},
    Operation{"Reduce_scatter_block", 5, reduce_scatter_block},
    Operation{"Scan", 5, scan},
    Operation{"Exscan", 5, scan},
    Operation{"Neighbor_allgather", 6, neighbor_alike},
    Operation{"Neighbor_allgatherv", 7, neighbor_alike},
    Operation{"Neighbor_alltoall", 6, neighbor_alike},
    Operation{"Neighbor_alltoallv", 8, neighbor_alltoallv},
    Operation{"Neighbor_alltoallw", 8, neighbor_alltoallw},
};

bool cut_ending(std::string& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

}  // namespace

CollectiveForm CollectiveForms::parsed(std::string_view call) {
  CollectiveForm form{std::string(call.substr(std::string_view("MPI_").size()))};
  form.is_large = cut_ending(form.operation, "_c");
  form.is_persistent = cut_ending(form.operation, "_init");
  // Nonblocking forms, for example "Ibcast".
  if (form.operation.front() == 'I') {
    form.operation.erase(0, 1);
    form.operation.front() = static_cast<char>(std::toupper(form.operation.front()));
  }
  return form;
}

void Profiler::count_collective(const CollectiveCall& call) {
  for (const Operation& operation : operations) {
    if (operation.name != call.operation()) continue;
    const Comm comm = call.comm(operation.comm);
    operation.count({mpi_, call, comm, peers_of(comm), sizes_});
  }
}

}  // namespace huddle::profile

HUDDLE_EXPORT void huddle_note(const char* call, const long* words, int count) {
  huddle::profile::profiler().note(call, words, count);
}
