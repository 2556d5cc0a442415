// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs calls of all operations with various data and checks the results.
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
// Returns the sums of the numbers of the first `ranks` ranks.
std::vector<std::uint32_t> sums(std::size_t count, int ranks, std::uint32_t seed);

inline const memory::Reduction sum = memory::reduction(memory::Type::uint32, memory::Operator::sum);

// The memory of a call's buffers.
struct Memory {
  std::pmr::memory_resource* input = std::pmr::new_delete_resource();
  std::pmr::memory_resource* output = std::pmr::new_delete_resource();
};

// Runs calls of one plan with changing data, roots and sizes up to `most` bytes, as the operation
// counts them. Fails the test if a result is wrong.
void exercise(Team& team, const select::Plan& plan, select::Operation operation, std::size_t most,
              std::uint32_t seed, const Memory& memory = {});

// A call by the team's own choice. All memory that it needs is allocated before it runs.
class OwnCall {
 public:
  // `bytes` is the maximum size, as the operation counts it.
  OwnCall(Team& team, select::Operation operation, std::size_t bytes, std::uint32_t seed);
  ~OwnCall();
  OwnCall(const OwnCall&) = delete;
  OwnCall& operator=(const OwnCall&) = delete;

  // Throws as the team does.
  void run();
  // Returns whether the result of run() is correct.
  bool is_right() const;

 private:
  struct Parts;

  Team& team_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace huddle::team
