// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Executes one rank's part of a schedule with real data over a wire. No function blocks, so that
// the caller can do other work meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/memory/reduction.h"
#include "runtime/schedules/schedule.h"
#include "runtime/schedules/wire.h"

namespace huddle::schedules {

// A caller's buffer that holds consecutive blocks from `first` on.
template <typename Byte>
struct BlockBuffer {
  Byte* bytes = nullptr;
  Sizes sizes = Sizes::equal(0);
  std::int64_t first = 0;

  Byte* at(std::int64_t block) const { return bytes + (sizes.offset(block) - sizes.offset(first)); }
};

// The buffers of one rank's call. In place, both describe the output.
struct CallData {
  BlockBuffer<const std::byte> input;
  BlockBuffer<std::byte> output;

  // Returns the data of a call whose blocks have the same sizes in input and output. A buffer for a
  // rank's own blocks contains only these.
  static CallData of(Operation operation, std::int64_t first_own_block, const Sizes& sizes,
                     const std::byte* input, std::byte* output);
};

class Execution {
 public:
  // Keeps references to `schedule` and `wire`. Only operations that reduce use `reduction`.
  Execution(const Schedule& schedule, int rank, const CallData& data,
            const memory::Reduction& reduction, Wire& wire);

  // Proceeds as far as possible without waiting. Returns true once the rank's part is complete.
  bool advance();

 private:
  struct Arrival {
    Part part;
    std::vector<std::byte> bytes;  // empty if data is received in place
  };

  std::byte* writable(Buffer buffer, std::int64_t block);
  const std::byte* readable(Buffer buffer, std::int64_t block);
  const Sizes& sizes_of(Buffer buffer) const {
    return buffer == Buffer::input ? data_.input.sizes : data_.output.sizes;
  }
  std::size_t bytes_of(Buffer buffer, std::int64_t block) const {
    return sizes_of(buffer).bytes(block);
  }
  std::size_t bytes_of(const Part& part) const { return sizes_of(part.buffer).bytes(part.blocks); }
  // Returns whether a part is contiguous.
  bool is_straight(const Part& part);

  void post();
  void post_send(const Message& message);
  void post_receive(const Message& message);
  void finish_round();
  void unpack(const Arrival& arrival);
  void copy(const Copy& copy);
  void combine(const Combine& combine);

  const Schedule& schedule_;
  int rank_;
  CallData data_;
  memory::Reduction reduction_;
  Wire& wire_;

  Scratch scratch_;
  std::size_t scratch_block_bytes_ = 0;
  std::vector<std::byte> scratch_bytes_;

  RoundSpan span_;
  bool posted_ = false;
  Round round_;
  std::vector<Wire::Ticket> tickets_;
  std::vector<Arrival> arrivals_;
  std::vector<std::vector<std::byte>> departures_;
};

}  // namespace huddle::schedules
