// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/reproduce/measured.h"

#include <algorithm>
#include <array>
#include <memory>

#include "common/text.h"
#include "runtime/node/bcast_pipelined.h"
#include "tools/bench/engine/protocol_bcast.h"
#include "tools/bench/engine/scale.h"

namespace huddle::reproduce {
namespace {

using node::PipelinedBcast;

constexpr int ranks = 2;
constexpr int fragment_cells = 2;
// Long enough for 64 buffers, and short enough to be over before something else has the processor.
constexpr std::size_t message = 512 << 10;
// One buffer is what the others are held against.
constexpr std::array buffers = {1, 2, 4};

}  // namespace

bench::Comparison few_buffers(const machine::Topology& topology, const std::vector<int>& pus) {
  const std::vector<int> of_ranks = {pus[0], pus[1]};
  const node::RankLocality locality = node::locality(topology, of_ranks);
  bench::Comparison comparison{.name = "broadcast of 512K through few buffers",
                               .binding = {ranks, of_ranks},
                               .bytes = message,
                               .entries = {},
                               .judgements = {}};
  for (const int count : buffers) {
    const PipelinedBcast::Parameters parameters{
        {{node::Shape::Kind::flat, 1}}, node::page_bytes, count * fragment_cells, 1};
    comparison.entries.push_back(
        {.name = counted(count, "buffer"),
         .implementation = std::make_unique<bench::ProtocolBcast<PipelinedBcast>>(
             locality, comparison.binding.crowded(), parameters,
             PipelinedBcast::Plan{0, fragment_cells, memory::CopyKernel::plain}),
         .calls = 1,
         .stretches = bench::Scale{}.single_calls(message)});
  }
  return comparison;
}

Measurements measurements_of(const bench::Result& result) {
  Measurements measurements;
  const std::vector<double>& one_ns = result.entries.front().ns;
  for (std::size_t entry = 1; entry < buffers.size(); ++entry) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < one_ns.size(); ++round) {
      ratios.push_back(result.entries[entry].ns[round] / one_ns[round]);
    }
    measurements.emplace(buffers[entry], answer_of(std::move(ratios)));
  }
  return measurements;
}

}  // namespace huddle::reproduce
