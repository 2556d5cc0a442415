// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A machine as it might as well be: what is only estimated of it, drawn anew. How far an answer
// moves with that is how much of it is the guess.
#pragma once

#include <cstdint>
#include <random>

#include "model/fabric/fabric_file.h"
#include "model/machine/machine.h"

namespace huddle::reproduce {

// How far from its estimate a figure may lie, as a share.
inline constexpr double estimates_spread = 0.25;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  // Evenly from 1 - estimates_spread to 1 + estimates_spread, the same on every machine.
  double factor();

 private:
  std::mt19937_64 engine_;
};

// Each estimated figure times a factor of its own; a curve is one figure, and keeps its shape. What
// was measured or published stays. The result is a machine that validate() accepts.
machine::Machine redrawn(machine::Machine machine, Draws& draws);
// The same of the nodes and of the links between switches; those of one height are one figure.
fabric::Cluster redrawn(fabric::Cluster cluster, Draws& draws);

}  // namespace huddle::reproduce
