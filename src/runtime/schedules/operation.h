// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a collective is: which blocks lie where before it, and which have to lie where after it.
// With p ranks, of which `root` is one:
//
//   operation       before                            after
//   allgather       rank r: block r in its input      all blocks in everybody's output
//   bcast           root: all blocks in its output    all blocks in everybody's output
//   reduce          everybody: all blocks in input    root: all joined blocks in its output
//   allreduce       everybody: all blocks in input    all joined blocks in everybody's output
//   reduce_scatter  everybody: all blocks in input    rank r: joined block r in its output
//   gather          rank r: block r in its input      root: all blocks in its output
//   scatter         root: all blocks in its input     rank r: block r in its output
//   alltoall        rank r: block d for each rank d   rank r: block s from each rank s
//   scan, exscan    everybody: all blocks in input    rank r: joined blocks of 0..r, 0..r-1
//   barrier         nothing                           everybody knows that everybody came
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace huddle::net {

enum class Operation : std::uint8_t {
  allgather,
  bcast,
  barrier,
  allreduce,
  reduce,
  reduce_scatter,
  alltoall,
  gather,
  scatter,
  scan,
  exscan,
};

inline constexpr std::array operations = {
    Operation::allgather, Operation::bcast,          Operation::barrier,  Operation::allreduce,
    Operation::reduce,    Operation::reduce_scatter, Operation::alltoall, Operation::gather,
    Operation::scatter,   Operation::scan,           Operation::exscan,
};

std::string_view name(Operation operation);
bool has_root(Operation operation);
// Whether contributions are joined by an operator.
bool reduces(Operation operation);

}  // namespace huddle::net
