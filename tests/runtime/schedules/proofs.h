// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The calls with which an algorithm is tested.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/check.h"

namespace huddle::schedules {

// Returns shares of one to three blocks per rank.
inline Shares uneven_shares(int ranks) {
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) counts.push_back(1 + (rank * 5 + 2) % 7 % 3);
  return Shares(counts);
}

// Varies each parameter that the algorithm uses over some values.
inline std::vector<Call> calls_of(const Algorithm& algorithm, const Call& plain) {
  std::vector<Call> calls = {plain};
  const auto vary = [&calls](bool uses, const auto& values, auto member) {
    if (!uses) return;
    std::vector<Call> varied;
    for (const Call& call : calls) {
      for (const auto& value : values) {
        varied.push_back(call);
        varied.back().*member = value;
      }
    }
    calls = varied;
  };
  vary(algorithm.uses.radix, std::vector<int>{2, 3, 5}, &Call::radix);
  vary(algorithm.uses.segments, std::vector<std::int64_t>{1, 2, 7}, &Call::segments);
  vary(algorithm.uses.message_blocks, std::vector<std::int64_t>{1, 4}, &Call::message_blocks);
  vary(algorithm.uses.shares, std::vector<Shares>{{}, uneven_shares(plain.ranks)}, &Call::shares);
  return calls;
}

inline std::string told(const Algorithm& algorithm, const Call& call) {
  return algorithm.full_name() + " ranks " + std::to_string(call.ranks) + " root " +
         std::to_string(call.root) + " radix " + std::to_string(call.radix) + " segments " +
         std::to_string(call.segments) + " message_blocks " + std::to_string(call.message_blocks) +
         (call.shares.are_equal() ? "" : " uneven shares");
}

// Returns the flaw of a call's schedule, or an empty string if it is correct, also in place. Above
// 100 ranks only one of the two variants is checked.
inline std::string flaw_of(const Algorithm& algorithm, const Call& call) {
  const auto schedule = make_schedule(algorithm, call);
  for (const bool in_place : {false, true}) {
    constexpr int many = 100;
    if (in_place && !algorithm.in_place) continue;
    if (algorithm.in_place && call.ranks > many && in_place != (call.ranks % 2 == 0)) continue;
    if (const auto flaw = flaw_in({*schedule, algorithm.operation, algorithm.order, in_place})) {
      return told(algorithm, call) + (in_place ? " in place: " : ": ") + *flaw;
    }
  }
  return {};
}

inline std::string test_name(const ::testing::TestParamInfo<Algorithm>& info) {
  std::string name = info.param.full_name();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '-'; }, '_');
  return name;
}

}  // namespace huddle::schedules
