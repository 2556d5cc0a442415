// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One rank's part of a call, with real data over a wire: it does what the schedule says, and never
// waits, so that whoever runs it may do something else meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/memory/reduction.h"
#include "runtime/schedules/schedule.h"
#include "runtime/schedules/wire.h"

namespace huddle::schedules {

// A buffer of the caller's: blocks lie one after the other from `first` on.
template <typename Byte>
struct BlockBuffer {
  Byte* bytes = nullptr;
  Sizes sizes = Sizes::equal(0);
  std::int64_t first = 0;

  Byte* at(std::int64_t block) const { return bytes + (sizes.offset(block) - sizes.offset(first)); }
};

// What a rank hands in. In place both lie where the output is.
struct CallData {
  BlockBuffer<const std::byte> input;
  BlockBuffer<std::byte> output;

  // Where blocks of both have the same sizes: a rank that contributes or gets blocks of its own has
  // these alone in its buffer.
  static CallData of(Operation operation, std::int64_t first_own_block, const Sizes& sizes,
                     const std::byte* input, std::byte* output);
};

class Execution {
 public:
  // All of them outlive the execution. reduction: of an operation that joins anything.
  Execution(const Schedule& schedule, int rank, const CallData& data,
            const memory::Reduction& reduction, Wire& wire);

  // Goes on as far as it can without waiting. True: the rank's part is done.
  bool advance();

 private:
  struct Arrival {
    Part part;
    std::vector<std::byte> bytes;  // empty where they come straight to their place
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
  // Whether it lies in one piece.
  bool is_straight(const Part& part);

  void post();
  void post_send(const Message& message);
  void post_receive(const Message& message);
  void finish_round();
  void unpack(const Arrival& arrival);
  void copy(const Copy& copy);
  void join(const Join& join);

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
