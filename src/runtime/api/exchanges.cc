// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What moves in blocks, and what is reduced to blocks or step by step.
#include <vector>

#include "runtime/api/collective.h"
#include "runtime/node/blocks.h"

namespace huddle::api {
namespace {

using node::Block;
using node::Blocks;
using team::Team;

void require_block(const Team& team, std::size_t bytes) {
  require(bytes <= most_bytes / static_cast<std::size_t>(team.ranks()),
          "no memory holds so many bytes for each rank");
}

void require_buffer(const void* buffer, std::size_t bytes, const char* otherwise) {
  require(bytes == 0 || buffer != nullptr, otherwise);
}
void require_input(const void* input, std::size_t bytes) {
  require_buffer(input, bytes, "the input is null");
}
void require_output(const void* output, std::size_t bytes) {
  require_buffer(output, bytes, "the output is null");
}

std::vector<Block> blocks_of(const Team& team, const huddle_block* blocks) {
  require(blocks != nullptr, "the blocks are null");
  std::vector<Block> list;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    require(blocks[rank].bytes <= most_bytes, "no memory holds so many bytes");
    list.push_back({blocks[rank].offset, blocks[rank].bytes});
  }
  return list;
}

bool is_empty(const Team& team, const Blocks& blocks) { return blocks.largest(team.ranks()) == 0; }

// Counted in elements, one behind the other.
std::vector<Block> elements_of(const Team& team, const std::size_t* counts,
                               const memory::Reduction& reduction) {
  require(counts != nullptr, "the counts are null");
  std::vector<Block> list;
  std::size_t all = 0;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    require(counts[rank] <= most_bytes / reduction.element_bytes - all,
            "no memory holds so many elements");
    list.push_back({static_cast<std::ptrdiff_t>(all), counts[rank]});
    all += counts[rank];
  }
  return list;
}

void reduce_to_blocks(Team& team, const void* input, void* output, const Blocks& blocks,
                      const memory::Reduction& reduction) {
  require_input(input, blocks.total(team.ranks()));
  require_output(output, blocks.of(team.rank()).bytes);
  team.reduce_scatter(input, output, blocks, reduction);
}

template <class... Described>
huddle_status reduce_by_counts(huddle_team* team, const void* input, void* output,
                               const std::size_t* counts, Described... described) {
  return collective(team, [&](Team& of) {
    const memory::Reduction reduction = reduction_of(described...);
    const std::vector<Block> elements = elements_of(of, counts, reduction);
    reduce_to_blocks(of, input, output, Blocks::listed(elements), reduction);
  });
}

// Either of the scans.
template <class... Described>
huddle_status prefix(huddle_team* team, const void* input, void* output, size_t count,
                     void (Team::*scan)(const void*, void*, std::size_t, const memory::Reduction&),
                     Described... described) {
  return collective(team, [&](Team& of) {
    const memory::Reduction reduction = reduction_of(described...);
    require(count <= most_bytes / reduction.element_bytes, "no memory holds so many elements");
    require_input(input, count);
    require_output(output, count);
    (of.*scan)(input, output, count, reduction);
  });
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;
using huddle::node::Block;
using huddle::node::Blocks;
using huddle::team::Team;

huddle_status huddle_allgather(huddle_team* team, const void* input, void* output, size_t bytes) {
  return collective(team, [&](Team& of) {
    require_block(of, bytes);
    require_input(input, bytes);
    require_output(output, bytes);
    of.allgather(input, output, bytes);
  });
}

huddle_status huddle_allgatherv(huddle_team* team, const void* input, void* output,
                                const huddle_block* blocks) {
  return collective(team, [&](Team& of) {
    const auto list = blocks_of(of, blocks);
    const auto incoming = Blocks::listed(list);
    require_input(input, incoming.of(of.rank()).bytes);
    require(output != nullptr || is_empty(of, incoming), "the output is null");
    of.allgatherv(input, output, incoming);
  });
}

huddle_status huddle_alltoall(huddle_team* team, const void* input, void* output, size_t bytes) {
  return collective(team, [&](Team& of) {
    require_block(of, bytes);
    require_input(input, bytes);
    require_output(output, bytes);
    of.alltoall(input, output, bytes);
  });
}

huddle_status huddle_alltoallv(huddle_team* team, const void* input, const huddle_block* outgoing,
                               void* output, const huddle_block* incoming) {
  return collective(team, [&](Team& of) {
    const auto out = blocks_of(of, outgoing);
    const auto in = blocks_of(of, incoming);
    require(input != nullptr || is_empty(of, Blocks::listed(out)), "the input is null");
    require(output != nullptr || is_empty(of, Blocks::listed(in)), "the output is null");
    of.alltoallv(input, Blocks::listed(out), output, Blocks::listed(in));
  });
}

huddle_status huddle_gather(huddle_team* team, const void* input, void* output, size_t bytes,
                            int root) {
  return collective(team, [&](Team& of) {
    require_root(of, root);
    require_block(of, bytes);
    require_input(input, bytes);
    if (of.rank() == root) require_output(output, bytes);
    of.gather(input, output, bytes, root);
  });
}

huddle_status huddle_gatherv(huddle_team* team, const void* input, size_t bytes, void* output,
                             const huddle_block* blocks, int root) {
  return collective(team, [&](Team& of) {
    require_root(of, root);
    require(bytes <= most_bytes, "no memory holds so many bytes");
    require_input(input, bytes);
    const auto list = of.rank() == root ? blocks_of(of, blocks) : std::vector<Block>();
    const auto incoming = list.empty() ? Blocks() : Blocks::listed(list);
    require(output != nullptr || is_empty(of, incoming), "the output is null");
    of.gatherv(input, bytes, output, incoming, root);
  });
}

huddle_status huddle_scatter(huddle_team* team, const void* input, void* output, size_t bytes,
                             int root) {
  return collective(team, [&](Team& of) {
    require_root(of, root);
    require_block(of, bytes);
    if (of.rank() == root) require_input(input, bytes);
    require_output(output, bytes);
    of.scatter(input, output, bytes, root);
  });
}

huddle_status huddle_scatterv(huddle_team* team, const void* input, const huddle_block* blocks,
                              void* output, size_t bytes, int root) {
  return collective(team, [&](Team& of) {
    require_root(of, root);
    require(bytes <= most_bytes, "no memory holds so many bytes");
    require_output(output, bytes);
    const auto list = of.rank() == root ? blocks_of(of, blocks) : std::vector<Block>();
    const auto outgoing = list.empty() ? Blocks() : Blocks::listed(list);
    require(input != nullptr || is_empty(of, outgoing), "the input is null");
    of.scatterv(input, outgoing, output, bytes, root);
  });
}

huddle_status huddle_reduce_scatter_block(huddle_team* team, const void* input, void* output,
                                          size_t count, huddle_type type, huddle_operator op) {
  return collective(team, [&](Team& of) {
    const huddle::memory::Reduction reduction = reduction_of(type, op);
    require(count <= most_bytes / static_cast<std::size_t>(of.ranks()) / reduction.element_bytes,
            "no memory holds so many elements for each rank");
    reduce_to_blocks(of, input, output, Blocks::even(count), reduction);
  });
}

huddle_status huddle_reduce_scatter(huddle_team* team, const void* input, void* output,
                                    const size_t* counts, huddle_type type, huddle_operator op) {
  return reduce_by_counts(team, input, output, counts, type, op);
}

huddle_status huddle_reduce_scatter_by(huddle_team* team, const void* input, void* output,
                                       const size_t* counts, const huddle_reduction* reduction) {
  return reduce_by_counts(team, input, output, counts, reduction);
}

huddle_status huddle_scan(huddle_team* team, const void* input, void* output, size_t count,
                          huddle_type type, huddle_operator op) {
  return prefix(team, input, output, count, &Team::scan, type, op);
}

huddle_status huddle_exscan(huddle_team* team, const void* input, void* output, size_t count,
                            huddle_type type, huddle_operator op) {
  return prefix(team, input, output, count, &Team::exscan, type, op);
}

huddle_status huddle_scan_by(huddle_team* team, const void* input, void* output, size_t count,
                             const huddle_reduction* reduction) {
  return prefix(team, input, output, count, &Team::scan, reduction);
}

huddle_status huddle_exscan_by(huddle_team* team, const void* input, void* output, size_t count,
                               const huddle_reduction* reduction) {
  return prefix(team, input, output, count, &Team::exscan, reduction);
}
