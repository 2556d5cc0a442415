// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/api/collectives.h"

#include <fmt/format.h>
#include <optional>
#include <vector>

#include "runtime/memory/types.h"
#include "runtime/node/blocks.h"

namespace huddle::api {
namespace {

// Types and operators have the same values in the C interface and in the kernels.
static_assert(HUDDLE_INT8 == static_cast<int>(memory::Type::int8));
static_assert(HUDDLE_FLOAT16 == static_cast<int>(memory::Type::float16));
static_assert(HUDDLE_LONG_DOUBLE_INT + 1 == memory::type_facts.size());
static_assert(HUDDLE_SUM == static_cast<int>(memory::Operator::sum));
static_assert(HUDDLE_BITWISE_AND == static_cast<int>(memory::Operator::bitwise_and));
static_assert(HUDDLE_MAX_LOCATION + 1 == memory::operator_names.size());

bool exists(huddle_type type) { return type >= HUDDLE_INT8 && type <= HUDDLE_LONG_DOUBLE_INT; }

}  // namespace

memory::Reduction reduction_of(huddle_type type, huddle_operator op) {
  require(exists(type), "there is no such huddle_type");
  require(op >= HUDDLE_SUM && op <= HUDDLE_MAX_LOCATION, "there is no such huddle_operator");
  const auto of = static_cast<memory::Type>(type);
  const auto by = static_cast<memory::Operator>(op);
  if (!memory::is_defined(of, by)) {
    throw UsageError(fmt::format("{} is not for elements of type {}", name(by), name(of)));
  }
  return memory::reduction(of, by);
}

memory::Reduction reduction_of(const huddle_reduction* reduction) {
  require(reduction != nullptr, "the reduction is null");
  require(reduction->combine != nullptr, "the reduction has no function that combines");
  require(reduction->element_bytes > 0, "the reduction is of elements of no bytes");
  return {reduction->combine, reduction->arg, reduction->element_bytes, false};
}

}  // namespace huddle::api

size_t huddle_type_bytes(huddle_type type) {
  if (!huddle::api::exists(type)) return 0;
  return huddle::memory::type_bytes(static_cast<huddle::memory::Type>(type));
}

namespace huddle::api {

namespace {

// Checks the count and the buffers. `root` is -1 if all ranks receive the result.
void require_data(const team::Team& team, const void* input, const void* output, size_t count,
                  const memory::Reduction& reduction, int root) {
  require(count <= most_bytes / reduction.element_bytes, "more elements than memory can hold");
  require(count == 0 || input != nullptr, "the input is null");
  const bool gets_result = root < 0 || team.rank() == root;
  require(count == 0 || output != nullptr || !gets_result, "the output is null");
}

template <class... Described>
huddle_status reduce(huddle_team* team, const void* input, void* output, size_t count, int root,
                     Described... described) {
  return collective(team, [&](team::Team& of) {
    require_root(of, root);
    const memory::Reduction reduction = reduction_of(described...);
    require_data(of, input, output, count, reduction, root);
    of.reduce(input, output, count, reduction, root);
  });
}

template <class... Described>
huddle_status allreduce(huddle_team* team, const void* input, void* output, size_t count,
                        Described... described) {
  return collective(team, [&](team::Team& of) {
    const memory::Reduction reduction = reduction_of(described...);
    constexpr int everybody = -1;
    require_data(of, input, output, count, reduction, everybody);
    of.allreduce(input, output, count, reduction);
  });
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

huddle_status huddle_barrier(huddle_team* team) {
  return collective(team, [](huddle::team::Team& of) { of.barrier(); });
}

huddle_status huddle_bcast(huddle_team* team, void* buffer, size_t bytes, int root) {
  return collective(team, [&](huddle::team::Team& of) {
    require_root(of, root);
    require(bytes <= most_bytes, "more bytes than memory can hold");
    require(bytes == 0 || buffer != nullptr, "the buffer is null");
    of.bcast(buffer, bytes, root);
  });
}

huddle_status huddle_reduce(huddle_team* team, const void* input, void* output, size_t count,
                            huddle_type type, huddle_operator op, int root) {
  return reduce(team, input, output, count, root, type, op);
}

huddle_status huddle_allreduce(huddle_team* team, const void* input, void* output, size_t count,
                               huddle_type type, huddle_operator op) {
  return allreduce(team, input, output, count, type, op);
}

huddle_status huddle_reduce_by(huddle_team* team, const void* input, void* output, size_t count,
                               const huddle_reduction* reduction, int root) {
  return reduce(team, input, output, count, root, reduction);
}

huddle_status huddle_allreduce_by(huddle_team* team, const void* input, void* output, size_t count,
                                  const huddle_reduction* reduction) {
  return allreduce(team, input, output, count, reduction);
}

namespace huddle::api {

namespace {

using node::Block;
using node::Blocks;
using team::Team;

void require_block(const Team& team, std::size_t bytes) {
  require(bytes <= most_bytes / static_cast<std::size_t>(team.ranks()),
          "more bytes for each rank than memory can hold");
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
    require(blocks[rank].bytes <= most_bytes, "more bytes than memory can hold");
    list.push_back({blocks[rank].offset, blocks[rank].bytes});
  }
  return list;
}

using OwnSizesError = std::optional<UsageError>;

// Protocols compare the sizes of blocks between ranks only. If this rank passes two sizes for its
// block to itself, makes the block empty, and returns the error to throw after the other blocks
// have been exchanged.
OwnSizesError drop_own_if_sizes_differ(const Team& team, std::size_t& sent_bytes,
                                       std::size_t& expected_bytes) {
  if (sent_bytes == expected_bytes) return std::nullopt;
  UsageError error(fmt::format("rank {} sends {} bytes to itself, but expects {}", team.rank(),
                               sent_bytes, expected_bytes));
  sent_bytes = 0;
  expected_bytes = 0;
  return error;
}

void throw_if_any(const OwnSizesError& error) {
  if (error) throw UsageError(*error);
}

bool is_empty(const Team& team, const Blocks& blocks) { return blocks.largest(team.ranks()) == 0; }

// Returns the blocks that the counts describe: contiguous, in rank order, measured in elements.
std::vector<Block> elements_of(const Team& team, const std::size_t* counts,
                               const memory::Reduction& reduction) {
  require(counts != nullptr, "the counts are null");
  std::vector<Block> list;
  std::size_t all = 0;
  for (int rank = 0; rank < team.ranks(); ++rank) {
    require(counts[rank] <= most_bytes / reduction.element_bytes - all,
            "more elements than memory can hold");
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

// Runs `scan`, which is Team::scan or Team::exscan.
template <class... Described>
huddle_status prefix(huddle_team* team, const void* input, void* output, size_t count,
                     void (Team::*scan)(const void*, void*, std::size_t, const memory::Reduction&),
                     Described... described) {
  return collective(team, [&](Team& of) {
    const memory::Reduction reduction = reduction_of(described...);
    require(count <= most_bytes / reduction.element_bytes, "more elements than memory can hold");
    require_input(input, count);
    require_output(output, count);
    (of.*scan)(input, output, count, reduction);
  });
}

}  // namespace
}  // namespace huddle::api

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
    auto out = blocks_of(of, outgoing);
    auto in = blocks_of(of, incoming);
    require(input != nullptr || is_empty(of, Blocks::listed(out)), "the input is null");
    require(output != nullptr || is_empty(of, Blocks::listed(in)), "the output is null");
    const auto me = static_cast<std::size_t>(of.rank());
    const auto error = drop_own_if_sizes_differ(of, out[me].bytes, in[me].bytes);
    of.alltoallv(input, Blocks::listed(out), output, Blocks::listed(in));
    throw_if_any(error);
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
    require(bytes <= most_bytes, "more bytes than memory can hold");
    require_input(input, bytes);
    auto list = of.rank() == root ? blocks_of(of, blocks) : std::vector<Block>();
    const auto incoming = list.empty() ? Blocks() : Blocks::listed(list);
    require(output != nullptr || is_empty(of, incoming), "the output is null");
    OwnSizesError error;
    if (!list.empty()) {
      error = drop_own_if_sizes_differ(of, bytes, list[static_cast<std::size_t>(root)].bytes);
    }
    of.gatherv(input, bytes, output, incoming, root);
    throw_if_any(error);
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
    require(bytes <= most_bytes, "more bytes than memory can hold");
    require_output(output, bytes);
    auto list = of.rank() == root ? blocks_of(of, blocks) : std::vector<Block>();
    const auto outgoing = list.empty() ? Blocks() : Blocks::listed(list);
    require(input != nullptr || is_empty(of, outgoing), "the input is null");
    OwnSizesError error;
    if (!list.empty()) {
      error = drop_own_if_sizes_differ(of, list[static_cast<std::size_t>(root)].bytes, bytes);
    }
    of.scatterv(input, outgoing, output, bytes, root);
    throw_if_any(error);
  });
}

huddle_status huddle_reduce_scatter_block(huddle_team* team, const void* input, void* output,
                                          size_t count, huddle_type type, huddle_operator op) {
  return collective(team, [&](Team& of) {
    const huddle::memory::Reduction reduction = reduction_of(type, op);
    require(count <= most_bytes / static_cast<std::size_t>(of.ranks()) / reduction.element_bytes,
            "more elements for each rank than memory can hold");
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
