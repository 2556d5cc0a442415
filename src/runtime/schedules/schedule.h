// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A collective between nodes as a plan: in which round a rank sends which blocks to whom, and what
// it does with those that came. A schedule is a pure function of (rank, round): it keeps no state,
// any round can be asked for at any time, and no answer takes more than O(log p) memory. So whoever
// runs it, proves it, draws it or simulates it reads the same rounds.
//
//   Blocks   The data of a call are cut into blocks, numbered from 0. In input and output each has
//   a
//            place of its own. Who knows the blocks' sizes (sizes.h) knows bytes.
//   Round    A rank posts all receives and sends of its round at once, waits for all of them, then
//            does the local work in the order in which it stands. Places that are received into are
//            read by nothing else of that round's messages.
//   Matching Rounds have the same numbers on all ranks: what is sent in round k is received in
//            round k. There is at most one message from a rank to another in a round. So messages
//            of a pair keep their order, and nobody waits in a circle, even where a send ends only
//            when its receiver is there.
//   In place A schedule need not know: input and output are then one buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace huddle::schedules {

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

// Intervals of equal length at equal distances: of blocks first, first + 1, ... `length` many, then
// the same `stride` further, and so on. One interval has the stride 0.
struct Run {
  std::int64_t first = 0;
  std::int64_t length = 1;
  std::int64_t repeats = 1;
  std::int64_t stride = 0;  // may be negative

  std::int64_t count() const { return length * repeats; }
  bool operator==(const Run&) const = default;
};

// Some blocks in a certain order: that of sending, receiving, copying.
class Blocks {
 public:
  Blocks() = default;
  // `count` blocks from `first` on.
  static Blocks interval(std::int64_t first, std::int64_t count);
  // The same round a circle of `modulo` blocks: after the last one comes block 0. Any `first`.
  static Blocks circular(std::int64_t first, std::int64_t count, std::int64_t modulo);
  // Every stride-th block round that circle, `count` of them; either direction.
  static Blocks strided(std::int64_t first, std::int64_t stride, std::int64_t count,
                        std::int64_t modulo);

  void add(const Run& run);  // none of it where it is empty
  // The same round a circle. Any `first`; no block may come twice.
  void add_circular(const Run& run, std::int64_t modulo);

  const Run* begin() const { return runs_.data(); }
  const Run* end() const { return runs_.data() + size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t count() const;
  // "0..3 7"; of more than a person counts "0 4 8 ... 60".
  std::string text() const;
  bool operator==(const Blocks& other) const;

 private:
  static constexpr std::size_t most = 5;  // of any schedule

  std::array<Run, most> runs_ = {};
  std::size_t size_ = 0;
};

// The first block of each and how many it has.
template <typename Action>
void for_each_interval(const Blocks& blocks, const Action& action) {
  for (const Run& run : blocks) {
    for (std::int64_t i = 0; i < run.repeats; ++i) action(run.first + i * run.stride, run.length);
  }
}

template <typename Action>
void for_each_block(const Blocks& blocks, const Action& action) {
  for_each_interval(blocks, [&action](std::int64_t first, std::int64_t count) {
    for (std::int64_t block = first; block < first + count; ++block) action(block);
  });
}

// Where blocks lie on a rank. From `scratch` on: as many buffers as the schedule asks for.
enum class Buffer : std::int32_t { input, output, scratch };
constexpr Buffer scratch(int number) {
  return static_cast<Buffer>(static_cast<std::int32_t>(Buffer::scratch) + number);
}

struct Part {
  Buffer buffer = Buffer::output;
  Blocks blocks;
};

// Sent to a peer, or received from it. Of a barrier: no blocks.
struct Message {
  int peer = 0;
  Part part;
};

// As many blocks on both sides; of a reduction the same ones.
struct Copy {
  Part from;
  Part to;
};

// result = left op right, block by block. The contributions in `left` are those of lower ranks
// where the schedule keeps order. The result may take the place of either.
struct Join {
  Buffer left = Buffer::output;
  Buffer right = Buffer::output;
  Buffer result = Buffer::output;
  Blocks blocks;
};

using Work = std::variant<Copy, Join>;

struct Round {
  std::vector<Message> receives;
  std::vector<Message> sends;
  std::vector<Work> work;

  // Keeps its memory, so that one round can serve for all.
  void clear();
  bool empty() const { return receives.empty() && sends.empty() && work.empty(); }

  void receive(int peer, Buffer to, const Blocks& blocks) {
    receives.push_back({peer, {to, blocks}});
  }
  void send(int peer, Buffer from, const Blocks& blocks) {
    sends.push_back({peer, {from, blocks}});
  }
  void copy(Buffer from, Buffer to, const Blocks& blocks) { copy({from, blocks}, {to, blocks}); }
  void copy(const Part& from, const Part& to) { work.push_back(Copy{from, to}); }
  void join(Buffer left, Buffer right, Buffer result, const Blocks& blocks) {
    work.push_back(Join{left, right, result, blocks});
  }
};

// What a schedule says of one rank without making its rounds. Checked to be exact.
struct RankTraffic {
  std::int64_t rounds = 0;  // in which it sends or receives
  std::int64_t sends = 0;
  std::int64_t receives = 0;
  std::int64_t blocks_sent = 0;
  std::int64_t blocks_received = 0;

  // One block out and one in, in each of so many rounds.
  static RankTraffic of_one_block_each_way(std::int64_t rounds) {
    return {rounds, rounds, rounds, rounds, rounds};
  }

  bool operator==(const RankTraffic&) const = default;
};

// So many buffers, each with room for so many blocks, the largest ones at that: block b lies at the
// place b modulo `blocks` of them.
struct Scratch {
  int buffers = 0;
  std::int64_t blocks = 0;
};

struct RoundSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;  // not in it
};

// So many blocks from the first on.
struct BlockSpan {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// How many blocks each rank contributes to an allgather, at least one each, the lower ranks' first.
// All ranks know it.
class Shares {
 public:
  Shares() = default;  // a block each
  explicit Shares(std::span<const std::int64_t> counts);

  bool are_equal() const { return starts_ == nullptr; }
  BlockSpan of(int rank) const {
    if (starts_ == nullptr) return {rank, 1};
    const auto at = static_cast<std::size_t>(rank);
    return {(*starts_)[at], (*starts_)[at + 1] - (*starts_)[at]};
  }
  std::int64_t sum(int ranks) const {
    const BlockSpan last = of(ranks - 1);
    return last.first + last.count;
  }
  std::int64_t least() const { return least_; }
  std::int64_t most() const { return most_; }

 private:
  std::shared_ptr<const std::vector<std::int64_t>> starts_;  // of all copies
  std::int64_t least_ = 1;
  std::int64_t most_ = 1;
};

// What a schedule is made for.
struct Call {
  int ranks = 1;
  int root = 0;  // of operations that have one
  // Each is of meaning to some algorithms only (algorithms.h says to which).
  int radix = 2;                    // peers of a rank in a round, and one
  std::int64_t segments = 1;        // of data that go through a pipeline
  std::int64_t message_blocks = 1;  // the most blocks that a message may hold
  Shares shares = {};               // where ranks do not contribute as much as each other
};

class Schedule {
 public:
  explicit Schedule(const Call& call) : call_(call) {}
  virtual ~Schedule() = default;

  int ranks() const { return call_.ranks; }
  int root() const { return call_.root; }
  const Call& call() const { return call_; }

  // How many blocks the data of the call are cut into: of allgather one for each rank or its share,
  // of a pipeline its segments, of a reduction its slices.
  virtual std::int64_t blocks() const = 0;
  // Of those that each rank has one of, or its share.
  virtual BlockSpan own_blocks(int rank) const { return {rank, 1}; }
  // Rounds of the whole collective; one that does nothing but local work counts.
  virtual std::int64_t rounds() const = 0;
  // What `rank` does in round `number`, put into `round`, which is cleared first.
  // pre: 0 <= rank < ranks(), 0 <= number < rounds()
  void make(int rank, std::int64_t number, Round& round) const;
  // Outside these rounds the rank has nothing to do.
  virtual RoundSpan active(int /*rank*/) const { return {0, rounds()}; }
  // The earliest round with the same traffic: every rank sends as many blocks to the same peers.
  // A simulation may take the one for the other where all blocks are of one size.
  virtual std::int64_t like(std::int64_t number) const { return number; }
  // The same of peers only: messages may differ in how many blocks they have.
  virtual std::int64_t peers_like(std::int64_t number) const { return like(number); }

  virtual RankTraffic traffic(int rank) const = 0;
  virtual Scratch scratch(int /*rank*/) const { return {}; }

 protected:
  virtual void fill(int rank, std::int64_t number, Round& round) const = 0;

  // The rank so many places further round the circle of all.
  int at_distance(int rank, std::int64_t distance) const;

 private:
  Call call_;
};

// How many bytes the blocks of a call have. All ranks know it.
class Sizes {
 public:
  // Every block as large.
  static Sizes equal(std::size_t bytes);
  // `count` elements of `element` bytes cut into so many blocks, as evenly as may be.
  static Sizes cut(std::size_t count, std::size_t element, std::int64_t blocks);
  // As they are listed: the v-forms.
  static Sizes listed(std::span<const std::size_t> bytes);

  // Where a block begins if blocks lie one after the other.
  std::size_t offset(std::int64_t block) const;
  std::size_t bytes(std::int64_t block) const { return offset(block + 1) - offset(block); }
  std::size_t bytes(const Blocks& blocks) const;
  bool operator==(const Sizes& other) const;

 private:
  // Block b begins at element b * elements_ / blocks_, or at (*starts_)[b] where these are
  // listed.
  std::size_t elements_ = 0;
  std::size_t element_bytes_ = 1;
  std::size_t blocks_ = 1;
  std::shared_ptr<const std::vector<std::size_t>> starts_;  // of all copies
};

}  // namespace huddle::schedules
