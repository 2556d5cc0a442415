// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/execution.h"

#include <algorithm>
#include <cstring>

namespace huddle::schedules {
namespace {

std::size_t largest_block(const Schedule& schedule, const Sizes& sizes) {
  std::size_t most = 0;
  for (std::int64_t block = 0; block < schedule.blocks(); ++block) {
    most = std::max(most, sizes.bytes(block));
  }
  return most;
}

// Iterates over blocks in their order.
class Walk {
 public:
  explicit Walk(const Blocks& blocks) : run_(blocks.begin()) {}
  std::int64_t next() {
    const std::int64_t block =
        run_->first + done_ / run_->length * run_->stride + done_ % run_->length;
    if (++done_ == run_->count()) {
      ++run_;
      done_ = 0;
    }
    return block;
  }

 private:
  const Run* run_;
  std::int64_t done_ = 0;  // in that run
};

}  // namespace

CallData CallData::of(Operation operation, std::int64_t first_own_block, const Sizes& sizes,
                      const std::byte* input, std::byte* output) {
  const bool gives_one = operation == Operation::allgather || operation == Operation::gather;
  const bool gets_one = operation == Operation::scatter || operation == Operation::reduce_scatter;
  return {{input, sizes, gives_one ? first_own_block : 0},
          {output, sizes, gets_one ? first_own_block : 0}};
}

Execution::Execution(const Schedule& schedule, int rank, const CallData& data,
                     const memory::Reduction& reduction, Wire& wire)
    : schedule_(schedule),
      rank_(rank),
      data_(data),
      reduction_(reduction),
      wire_(wire),
      scratch_(schedule.scratch(rank)),
      span_(schedule.active(rank)) {
  if (scratch_.buffers == 0) return;
  scratch_block_bytes_ = largest_block(schedule, data.output.sizes);
  scratch_bytes_.resize(static_cast<std::size_t>(scratch_.buffers) *
                        static_cast<std::size_t>(scratch_.blocks) * scratch_block_bytes_);
}

bool Execution::advance() {
  while (span_.first < span_.last) {
    if (!posted_) post();
    std::erase_if(tickets_, [this](Wire::Ticket ticket) { return wire_.test(ticket); });
    if (!tickets_.empty()) return false;
    finish_round();
  }
  return true;
}

std::byte* Execution::writable(Buffer buffer, std::int64_t block) {
  if (buffer == Buffer::output) return data_.output.at(block);
  const auto number =
      static_cast<std::int64_t>(buffer) - static_cast<std::int64_t>(Buffer::scratch);
  const std::int64_t place = number * scratch_.blocks + block % scratch_.blocks;
  return scratch_bytes_.data() + static_cast<std::size_t>(place) * scratch_block_bytes_;
}

const std::byte* Execution::readable(Buffer buffer, std::int64_t block) {
  return buffer == Buffer::input ? data_.input.at(block) : writable(buffer, block);
}

bool Execution::is_straight(const Part& part) {
  const std::byte* next = nullptr;
  bool straight = true;
  for_each_block(part.blocks, [&](std::int64_t block) {
    const std::byte* const begin = readable(part.buffer, block);
    straight = straight && (next == nullptr || next == begin);
    next = begin + bytes_of(part.buffer, block);
  });
  return straight;
}

void Execution::post() {
  schedule_.make(rank_, span_.first, round_);
  for (const Message& message : round_.receives) post_receive(message);
  for (const Message& message : round_.sends) post_send(message);
  posted_ = true;
}

// Both ranks omit a message without data, except in a barrier.
void Execution::post_receive(const Message& message) {
  const std::size_t bytes = bytes_of(message.part);
  if (bytes == 0 && !message.part.blocks.empty()) return;
  arrivals_.push_back({message.part, {}});
  std::byte* target = nullptr;
  if (bytes > 0 && is_straight(message.part)) {
    target = writable(message.part.buffer, message.part.blocks.begin()->first);
  } else {
    arrivals_.back().bytes.resize(bytes);
    target = arrivals_.back().bytes.data();
  }
  tickets_.push_back(wire_.receive(message.peer, {target, bytes}));
}

void Execution::post_send(const Message& message) {
  const std::size_t bytes = bytes_of(message.part);
  if (bytes == 0 && !message.part.blocks.empty()) return;
  if (bytes == 0 || is_straight(message.part)) {
    const std::byte* const source =
        bytes == 0 ? nullptr : readable(message.part.buffer, message.part.blocks.begin()->first);
    tickets_.push_back(wire_.send(message.peer, {source, bytes}));
    return;
  }
  std::vector<std::byte>& packed = departures_.emplace_back();
  for_each_block(message.part.blocks, [&](std::int64_t block) {
    const std::byte* const source = readable(message.part.buffer, block);
    packed.insert(packed.end(), source, source + bytes_of(message.part.buffer, block));
  });
  tickets_.push_back(wire_.send(message.peer, packed));
}

void Execution::finish_round() {
  for (const Arrival& arrival : arrivals_) unpack(arrival);
  for (const Work& work : round_.work) {
    if (const Copy* const copied = std::get_if<Copy>(&work)) copy(*copied);
    if (const Combine* const combined = std::get_if<Combine>(&work)) combine(*combined);
  }
  arrivals_.clear();
  departures_.clear();
  posted_ = false;
  ++span_.first;
}

void Execution::unpack(const Arrival& arrival) {
  if (arrival.bytes.empty()) return;
  const std::byte* next = arrival.bytes.data();
  for_each_block(arrival.part.blocks, [&](std::int64_t block) {
    const std::size_t bytes = bytes_of(arrival.part.buffer, block);
    if (bytes > 0) std::memcpy(writable(arrival.part.buffer, block), next, bytes);
    next += bytes;
  });
}

void Execution::copy(const Copy& copy) {
  Walk targets(copy.to.blocks);
  for_each_block(copy.from.blocks, [&](std::int64_t block) {
    const std::byte* const source = readable(copy.from.buffer, block);
    std::byte* const target = writable(copy.to.buffer, targets.next());
    const std::size_t bytes = bytes_of(copy.from.buffer, block);
    if (source != target && bytes > 0) std::memcpy(target, source, bytes);
  });
}

void Execution::combine(const Combine& combine) {
  for_each_block(combine.blocks, [&](std::int64_t block) {
    const std::size_t count = bytes_of(combine.result, block) / reduction_.element_bytes;
    if (count == 0) return;
    reduction_(writable(combine.result, block), readable(combine.left, block),
               readable(combine.right, block), count);
  });
}

}  // namespace huddle::schedules
