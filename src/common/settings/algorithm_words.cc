// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/settings/algorithm_words.h"

#include <array>

namespace huddle::settings {
namespace {

constexpr std::string_view of_barrier[] = {"dissemination", "tree"};
constexpr std::string_view of_bcast[] = {"inline", "pipelined", "segmented", "direct"};
constexpr std::string_view of_reduce[] = {"blocks", "slices", "direct"};
constexpr std::string_view of_allreduce[] = {"exchange", "blocks", "slices", "direct"};
constexpr std::string_view of_reduction_to_blocks[] = {"exchange", "slices", "direct"};
constexpr std::string_view of_prefixes[] = {"exchange", "slices"};
constexpr std::string_view of_allgather[] = {"slots", "doubling", "direct"};
constexpr std::string_view of_alltoall[] = {"slots", "pairwise", "direct"};
constexpr std::string_view of_gather[] = {"pairwise", "direct", "pushed"};
constexpr std::string_view of_scatter[] = {"pairwise", "direct"};
constexpr std::string_view of_uneven[] = {"announced", "pairwise"};

constexpr std::array<AlgorithmWords, 17> words = {{
    {"barrier", of_barrier, false},
    {"bcast", of_bcast},
    {"reduce", of_reduce},
    {"allreduce", of_allreduce},
    {"gather", of_gather},
    {"gatherv", of_uneven, false},
    {"scatter", of_scatter},
    {"scatterv", of_uneven, false},
    {"allgather", of_allgather},
    {"allgatherv", of_allgather},
    {"alltoall", of_alltoall},
    {"alltoallv", of_uneven, false},
    {"alltoallw", of_uneven, false},
    {"scan", of_prefixes},
    {"exscan", of_prefixes},
    {"reduce_scatter", of_reduction_to_blocks},
    {"reduce_scatter_block", of_reduction_to_blocks},
}};

constexpr std::string_view between_barrier[] = {"dissemination"};
constexpr std::string_view between_bcast[] = {"knomial", "chain", "scatter-ring",
                                              "scatter-doubling", "circulant"};
constexpr std::string_view between_reduce[] = {"binomial"};
constexpr std::string_view between_allreduce[] = {"doubling", "halving", "slices"};
constexpr std::string_view between_gather[] = {"knomial"};
constexpr std::string_view between_allgather[] = {"ring",  "neighbor", "doubling",
                                                  "bruck", "sparbit",  "far-first"};
constexpr std::string_view between_alltoall[] = {"spread", "pairwise", "bruck"};
constexpr std::string_view between_prefixes[] = {"doubling"};
constexpr std::string_view between_reduce_scatter[] = {"halving", "slices"};

constexpr std::array<AlgorithmWords, 10> words_between = {{
    {"barrier", between_barrier, false},
    {"bcast", between_bcast, false},
    {"reduce", between_reduce, false},
    {"allreduce", between_allreduce, false},
    {"gather", between_gather, false},
    {"scatter", between_gather, false},
    {"allgather", between_allgather, false},
    {"alltoall", between_alltoall, false},
    {"exscan", between_prefixes, false},
    {"reduce_scatter", between_reduce_scatter, false},
}};

}  // namespace

std::span<const AlgorithmWords> algorithm_words() { return words; }

std::span<const AlgorithmWords> schedule_words() { return words_between; }

}  // namespace huddle::settings
