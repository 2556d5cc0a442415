// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Chooses by chance, each execution in a manner of its own: some change the turn often and some
// hardly ever, some let one rank run far ahead of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "check/checker/chooser.h"

namespace huddle::verify::checker {

class RandomWalk : public Chooser {
 public:
  RandomWalk(int ranks, std::uint64_t seed);

  std::size_t choose(std::span<const Alternative> alternatives, const State& state) override;

 private:
  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  std::size_t any_free(std::span<const Alternative> alternatives);
  std::size_t foremost(std::span<const Alternative> alternatives);

  std::mt19937_64 random_;
  std::uint64_t calm_;  // one in so many choices is costly
  bool by_priority_;
  std::vector<std::uint64_t> priority_;  // of each rank
};

}  // namespace huddle::verify::checker
