// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Calls of every operation with data of every kind, and what has to come of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

#include "runtime/memory/reduction.h"
#include "runtime/memory/types.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/team/team.h"

namespace huddle::team {

std::vector<std::uint32_t> numbers(std::size_t count, std::uint32_t seed);
// Of the numbers of the first so many ranks.
std::vector<std::uint32_t> sums(std::size_t count, int ranks, std::uint32_t seed);

inline const memory::Reduction sum = memory::reduction(memory::Type::uint32, memory::Operator::sum);

// Where a call's buffers come from.
struct Memory {
  std::pmr::memory_resource* input = std::pmr::new_delete_resource();
  std::pmr::memory_resource* output = std::pmr::new_delete_resource();
};

// Calls of one plan with changing data, roots and sizes up to `most` bytes, of what the operation
// counts. Fails the test where anything else comes out.
void exercise(Team& team, const select::Plan& plan, select::Operation operation, std::size_t most,
              std::uint32_t seed, const Memory& memory = {});

// One call by the team's own choice. All that it needs is there before it runs.
class OwnCall {
 public:
  // Of up to so many bytes, as the operation counts them.
  OwnCall(Team& team, select::Operation operation, std::size_t bytes, std::uint32_t seed);
  ~OwnCall();
  OwnCall(const OwnCall&) = delete;
  OwnCall& operator=(const OwnCall&) = delete;

  // Throws what the team throws.
  void run();
  // Whether everything stands where it has to, after run().
  bool is_right() const;

 private:
  struct Parts;

  Team& team_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace huddle::team
