// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Schedules: collectives between nodes, described as data. A schedule defines in which round a rank
// sends which blocks to which peer, and what it does with received blocks. It is a pure function of
// (rank, round): it keeps no state, any round can be requested at any time, and a round takes at
// most O(log p) memory. Execution, checker, drawings and simulation all use the same rounds.
//
// - Blocks: the data of a call is cut into blocks, numbered from 0. Each has its own place in input
//   and output. Sizes (below) gives their sizes in bytes.
// - Round: a rank posts all receives and sends of a round at once, waits for all of them, then does
//   the local work in the listed order. No other message of the round uses a place into which a
//   message is received.
// - Matching: rounds have the same numbers on all ranks: a message sent in round k is received in
//   round k. There is at most one message from a rank to another per round. So the messages between
//   two ranks keep their order, and deadlock is impossible even if a send completes only when its
//   receive has been posted.
// - In place: input and output are the same buffer; a schedule does not depend on it.
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

// The collective operations, with the location of the blocks before and after each:
//
//   operation       before                           after
//   allgather       rank r: block r in its input     all blocks in every output
//   bcast           root: all blocks in its output   all blocks in every output
//   reduce          all blocks in every input        root: all reduced blocks in its output
//   allreduce       all blocks in every input        all reduced blocks in every output
//   reduce_scatter  all blocks in every input        rank r: reduced block r in its output
//   gather          rank r: block r in its input     root: all blocks in its output
//   scatter         root: all blocks in its input    rank r: block r in its output
//   alltoall        rank r: block d for each rank d  rank r: block s from each rank s
//   scan, exscan    all blocks in every input        rank r: reduction over 0..r, 0..r-1
//   barrier         nothing                          every rank knows that all ranks arrived
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
// Returns whether contributions are combined by an operator.
bool reduces(Operation operation);

// Intervals of equal length at equal distances: `length` blocks from `first` on, and the same again
// at each further `stride`, `repeats` times in total. A single interval has the stride 0.
struct Run {
  std::int64_t first = 0;
  std::int64_t length = 1;
  std::int64_t repeats = 1;
  std::int64_t stride = 0;  // may be negative

  std::int64_t count() const { return length * repeats; }
  bool operator==(const Run&) const = default;
};

// A sequence of blocks, in the order of sending, receiving or copying.
class Blocks {
 public:
  Blocks() = default;
  // Returns `count` blocks from `first` on.
  static Blocks interval(std::int64_t first, std::int64_t count);
  // The same in a cycle: block 0 follows block `modulo` - 1. Any `first` is valid.
  static Blocks circular(std::int64_t first, std::int64_t count, std::int64_t modulo);
  // Returns `count` blocks at a cyclic distance of `stride`, which may be negative.
  static Blocks strided(std::int64_t first, std::int64_t stride, std::int64_t count,
                        std::int64_t modulo);

  void add(const Run& run);  // ignores an empty run
  // Adds a run of cyclic block numbers. run.first may be any number.
  // Requires: no block occurs twice.
  void add_circular(const Run& run, std::int64_t modulo);

  const Run* begin() const { return runs_.data(); }
  const Run* end() const { return runs_.data() + size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t count() const;
  // Returns for example "0..3 7", or "0 4 8 ... 60" if there are many.
  std::string text() const;
  bool operator==(const Blocks& other) const;

 private:
  static constexpr std::size_t most = 5;  // sufficient for all schedules

  std::array<Run, most> runs_ = {};
  std::size_t size_ = 0;
};

// Calls action(first block, number of blocks) for each interval.
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

// Location of blocks on a rank. Values from `scratch` on are the requested scratch buffers.
enum class Buffer : std::int32_t { input, output, scratch };
constexpr Buffer scratch(int number) {
  return static_cast<Buffer>(static_cast<std::int32_t>(Buffer::scratch) + number);
}

struct Part {
  Buffer buffer = Buffer::output;
  Blocks blocks;
};

// A message that is sent to the peer or received from it. In a barrier it has no blocks.
struct Message {
  int peer = 0;
  Part part;
};

// A local copy. Both parts have the same number of blocks; in a reduction they are the same blocks.
struct Copy {
  Part from;
  Part to;
};

// Reduces blocks: result = left op right. If the schedule keeps the order, `left` has the
// contributions of lower ranks. The result may replace either operand.
struct Combine {
  Buffer left = Buffer::output;
  Buffer right = Buffer::output;
  Buffer result = Buffer::output;
  Blocks blocks;
};

using Work = std::variant<Copy, Combine>;

struct Round {
  std::vector<Message> receives;
  std::vector<Message> sends;
  std::vector<Work> work;

  // Keeps the allocated memory, so that one Round can be reused for all rounds.
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
  void combine(Buffer left, Buffer right, Buffer result, const Blocks& blocks) {
    work.push_back(Combine{left, right, result, blocks});
  }
};

// Summary of one rank's part of a schedule, available without computing its rounds. The checker
// verifies that it is exact.
struct RankTraffic {
  std::int64_t rounds = 0;  // in which it sends or receives
  std::int64_t sends = 0;
  std::int64_t receives = 0;
  std::int64_t blocks_sent = 0;
  std::int64_t blocks_received = 0;

  // One block sent and one received in each of `rounds` rounds.
  static RankTraffic of_one_block_each_way(std::int64_t rounds) {
    return {rounds, rounds, rounds, rounds, rounds};
  }

  bool operator==(const RankTraffic&) const = default;
};

// Scratch buffers for `blocks` blocks of the largest size each. Block b is at b modulo `blocks`.
struct Scratch {
  int buffers = 0;
  std::int64_t blocks = 0;
};

struct RoundSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;  // exclusive
};

// `count` blocks from `first` on.
struct BlockSpan {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Number of blocks that each rank contributes to an allgather, at least one each, in rank order.
// All ranks know it.
class Shares {
 public:
  Shares() = default;  // one block per rank
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
  std::shared_ptr<const std::vector<std::int64_t>> starts_;  // shared by all copies
  std::int64_t least_ = 1;
  std::int64_t most_ = 1;
};

// Parameters from which a schedule is made.
struct Call {
  int ranks = 1;
  int root = 0;  // for operations that have one
  // Each of the following is used by some algorithms only (see Algorithm::uses).
  int radix = 2;                    // peers of a rank per round, plus one
  std::int64_t segments = 1;        // of pipelined data
  std::int64_t message_blocks = 1;  // maximum number of blocks per message
  Shares shares = {};               // if ranks contribute different amounts
};

class Schedule {
 public:
  explicit Schedule(const Call& call) : call_(call) {}
  virtual ~Schedule() = default;

  int ranks() const { return call_.ranks; }
  int root() const { return call_.root; }
  const Call& call() const { return call_; }

  // Returns the number of blocks of the call's data: in an allgather the sum of the ranks' shares,
  // in a pipeline the number of segments, in a reduction the number of slices.
  virtual std::int64_t blocks() const = 0;
  // Returns the blocks of a rank, in operations in which each rank has one block or its share.
  virtual BlockSpan own_blocks(int rank) const { return {rank, 1}; }
  // Returns the number of rounds of the collective, including rounds of local work only.
  virtual std::int64_t rounds() const = 0;
  // Stores what `rank` does in round `number` in `round`, which is cleared first.
  // Requires: 0 <= rank < ranks(), 0 <= number < rounds().
  void make(int rank, std::int64_t number, Round& round) const;
  // Returns the rounds outside of which the rank is idle.
  virtual RoundSpan active(int /*rank*/) const { return {0, rounds()}; }
  // Returns the earliest round with the same traffic: every rank sends the same number of blocks to
  // the same peers. If all blocks have the same size, a simulation can reuse the result of that
  // round.
  virtual std::int64_t like(std::int64_t number) const { return number; }
  // Returns the earliest round with the same peers; the numbers of blocks may differ.
  virtual std::int64_t peers_like(std::int64_t number) const { return like(number); }

  virtual RankTraffic traffic(int rank) const = 0;
  virtual Scratch scratch(int /*rank*/) const { return {}; }

 protected:
  virtual void fill(int rank, std::int64_t number, Round& round) const = 0;

  // Returns the rank at a cyclic distance from `rank`.
  int at_distance(int rank, std::int64_t distance) const;

 private:
  Call call_;
};

// Sizes of a call's blocks in bytes. All ranks know them.
class Sizes {
 public:
  // Returns the sizes of blocks of `bytes` bytes each.
  static Sizes equal(std::size_t bytes);
  // Returns the sizes if `count` elements of `element` bytes are cut into `blocks` blocks as evenly
  // as possible.
  static Sizes cut(std::size_t count, std::size_t element, std::int64_t blocks);
  // Returns the given sizes, for the v-forms.
  static Sizes listed(std::span<const std::size_t> bytes);

  // Returns the offset of a block if all blocks are contiguous.
  std::size_t offset(std::int64_t block) const;
  std::size_t bytes(std::int64_t block) const { return offset(block + 1) - offset(block); }
  std::size_t bytes(const Blocks& blocks) const;
  bool operator==(const Sizes& other) const;

 private:
  // Block b begins at element b * elements_ / blocks_, or at byte (*starts_)[b] if sizes are
  // listed.
  std::size_t elements_ = 0;
  std::size_t element_bytes_ = 1;
  std::size_t blocks_ = 1;
  std::shared_ptr<const std::vector<std::size_t>> starts_;  // shared by all copies
};

}  // namespace huddle::schedules
