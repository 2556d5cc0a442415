// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "exercise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace huddle::team {
namespace {

using node::Block;
using node::Blocks;
using select::Operation;
using Numbers = std::vector<std::uint32_t>;

constexpr std::size_t number_bytes = sizeof(std::uint32_t);
constexpr std::uint32_t untouched = 0xDEADBEEF;

// The data that each rank sends to each other rank; all ranks can compute it.
class Matrix {
 public:
  Matrix(int ranks, std::size_t count, std::uint32_t seed, Operation operation)
      : ranks_(ranks), count_(count), seed_(seed), operation_(operation) {}

  // Some blocks are empty, and some are much larger than the rest.
  std::size_t count(int from, int to) const {
    switch (operation_) {
      case Operation::allgatherv:
      case Operation::gatherv:
        return uneven(from);
      case Operation::alltoallv:
      case Operation::alltoallw:
        return uneven(from * ranks_ + to);
      case Operation::scatterv:
        return uneven(to);
      case Operation::barrier:
      case Operation::bcast:
      case Operation::reduce:
      case Operation::allreduce:
      case Operation::allgather:
      case Operation::alltoall:
      case Operation::gather:
      case Operation::scatter:
      case Operation::reduce_scatter:
      case Operation::reduce_scatter_block:
      case Operation::scan:
      case Operation::exscan:
        break;
    }
    return count_;
  }
  Numbers message(int from, int to) const {
    const int of = is_same_for_all() ? 0 : to;
    return numbers(count(from, to), seed_ + static_cast<std::uint32_t>(31 * from + 7 * of));
  }

 private:
  bool is_same_for_all() const {
    return operation_ == Operation::allgather || operation_ == Operation::allgatherv;
  }
  std::size_t uneven(int of) const {
    const std::uint32_t dice = (seed_ + static_cast<std::uint32_t>(of)) * 2654435761U >> 8U;
    return dice % 4 == 0 ? 0 : dice % 3 == 0 ? count_ : count_ * (dice % 16) / 64;
  }

  int ranks_;
  std::size_t count_;
  std::uint32_t seed_;
  Operation operation_;
};

// One call: its buffers, its blocks, and the expected output.
struct Trial {
  Numbers in;
  Numbers out;
  Numbers wanted;
  std::vector<Block> outgoing;
  std::vector<Block> incoming;
  std::vector<Block> elements;
  Call call;
};

// Returns blocks with gaps between them.
std::vector<Block> with_gaps(const std::vector<std::size_t>& counts, std::size_t gap) {
  std::vector<Block> blocks;
  std::size_t at = 0;
  for (const std::size_t count : counts) {
    blocks.push_back({static_cast<std::ptrdiff_t>(at * number_bytes), count * number_bytes});
    at += count + gap;
  }
  return blocks;
}

Numbers laid_out(const std::vector<Block>& blocks, const std::vector<Numbers>& messages) {
  std::size_t end = 0;
  for (const Block& block : blocks) {
    end = std::max(end, static_cast<std::size_t>(block.offset) + block.bytes);
  }
  Numbers all(end / number_bytes, untouched);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::copy(messages[i].begin(), messages[i].end(),
              all.begin() + blocks[i].offset / static_cast<std::ptrdiff_t>(number_bytes));
  }
  return all;
}

struct ProtocolInputs {
  int rank;
  int ranks;
  int root;
  std::size_t count;
  std::uint32_t seed;
};

// Returns whether rank `from` sends data to rank `to`.
bool goes(Operation operation, const ProtocolInputs& s, int from, int to) {
  switch (operation) {
    case Operation::gather:
    case Operation::gatherv:
      return to == s.root;
    case Operation::scatter:
    case Operation::scatterv:
      return from == s.root;
    case Operation::barrier:
    case Operation::bcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      break;
  }
  return true;
}

bool is_uneven(Operation operation) {
  return operation == Operation::allgatherv || select::has_pairwise_sizes(operation);
}

Trial moving_trial(Operation operation, const ProtocolInputs& s) {
  const Matrix matrix(s.ranks, s.count, s.seed, operation);
  const std::size_t gap = is_uneven(operation) ? 3 : 0;
  std::vector<std::size_t> to_counts;
  std::vector<std::size_t> from_counts;
  std::vector<Numbers> sent;
  std::vector<Numbers> received;
  for (int peer = 0; peer < s.ranks; ++peer) {
    const bool out = goes(operation, s, s.rank, peer);
    const bool in = goes(operation, s, peer, s.rank);
    sent.push_back(out ? matrix.message(s.rank, peer) : Numbers());
    received.push_back(in ? matrix.message(peer, s.rank) : Numbers());
    to_counts.push_back(sent.back().size());
    from_counts.push_back(received.back().size());
  }
  Trial trial;
  const bool shows_one = operation == Operation::allgather || operation == Operation::allgatherv;
  trial.incoming = with_gaps(from_counts, gap);
  trial.wanted = laid_out(trial.incoming, received);
  trial.out.assign(trial.wanted.size(), untouched);
  if (shows_one) {
    trial.in = matrix.message(s.rank, 0);
  } else {
    trial.outgoing = with_gaps(to_counts, gap);
    trial.in = laid_out(trial.outgoing, sent);
  }
  std::size_t largest = 0;
  for (int from = 0; from < s.ranks; ++from) largest = std::max(largest, matrix.count(from, 0));
  trial.call.count = select::has_pairwise_sizes(operation) ? 0 : largest * number_bytes;
  return trial;
}

// Returns the result of a reduction on this rank, before it is split into blocks.
Numbers joined(Operation operation, const ProtocolInputs& s, std::size_t count) {
  switch (operation) {
    case Operation::scan:
      return sums(count, s.rank + 1, s.seed);
    case Operation::exscan:
      return s.rank == 0 ? Numbers(count, untouched) : sums(count, s.rank, s.seed);
    case Operation::reduce:
      return s.rank == s.root ? sums(count, s.ranks, s.seed) : Numbers();
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return sums(count, s.ranks, s.seed);
    case Operation::barrier:
    case Operation::bcast:
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
      break;
  }
  return {};
}

Trial reducing_trial(Operation operation, const ProtocolInputs& s) {
  Trial trial;
  const auto seed_of = [&](int rank) { return s.seed + static_cast<std::uint32_t>(rank); };
  const bool to_blocks = select::reduces_to_blocks(operation);
  std::size_t all = s.count;
  std::size_t begin = 0;
  if (to_blocks) {
    all = 0;
    for (int rank = 0; rank < s.ranks; ++rank) {
      const bool same = operation == Operation::reduce_scatter_block;
      const std::size_t own = same ? s.count / static_cast<std::size_t>(s.ranks)
                                   : (s.seed + static_cast<std::uint32_t>(5 * rank)) % 3 * s.count /
                                         static_cast<std::size_t>(3 * s.ranks);
      if (rank == s.rank) begin = all;
      trial.elements.push_back({static_cast<std::ptrdiff_t>(all), own});
      all += own;
    }
  }
  trial.in = numbers(all, seed_of(s.rank));
  trial.wanted = joined(operation, s, all);
  if (to_blocks) {
    const std::size_t own = trial.elements[static_cast<std::size_t>(s.rank)].bytes;
    trial.wanted = Numbers(trial.wanted.begin() + static_cast<std::ptrdiff_t>(begin),
                           trial.wanted.begin() + static_cast<std::ptrdiff_t>(begin + own));
  }
  trial.out.assign(trial.wanted.size(), untouched);
  trial.call.count = all;
  trial.call.reduction = &sum;
  return trial;
}

Trial broadcast_trial(const ProtocolInputs& s) {
  Trial trial;
  trial.wanted = numbers(s.count, s.seed);
  trial.out = s.rank == s.root ? trial.wanted : Numbers(s.count, untouched);
  trial.call.count = s.count * number_bytes;
  return trial;
}

Trial trial_of(Operation operation, const ProtocolInputs& s) {
  switch (operation) {
    case Operation::barrier:
      return {};
    case Operation::bcast:
      return broadcast_trial(s);
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      return reducing_trial(operation, s);
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
      return moving_trial(operation, s);
  }
  return {};
}

// The buffers that are passed to the team.
struct Buffers {
  Buffers(const Trial& trial, const Memory& memory)
      : in(trial.in.begin(), trial.in.end(), memory.input),
        out(trial.out.begin(), trial.out.end(), memory.output) {}

  std::pmr::vector<std::uint32_t> in;
  std::pmr::vector<std::uint32_t> out;
};

// Returns the call in the form that the team's own functions use.
Call call_of(Operation operation, const Trial& trial, Buffers& buffers, const ProtocolInputs& s) {
  Call call = trial.call;
  call.operation = operation;
  call.root = s.root;
  call.output = buffers.out.data();
  call.input = operation == Operation::bcast ? buffers.out.data() : buffers.in.data();
  call.outgoing = Blocks::listed(trial.outgoing);
  call.incoming = Blocks::listed(trial.incoming);
  if (trial.outgoing.empty()) {
    call.outgoing = Blocks::only(s.rank, trial.in.size() * number_bytes);
  }
  if (!trial.elements.empty()) call.incoming = Blocks::listed(trial.elements);
  return call;
}

ProtocolInputs setting_of(const Team& team, std::size_t bytes, std::uint32_t seed) {
  return {team.rank(), team.ranks(),
          static_cast<int>(seed % static_cast<std::uint32_t>(team.ranks())), bytes / number_bytes,
          seed};
}

}  // namespace

Numbers numbers(std::size_t count, std::uint32_t seed) {
  Numbers values(count);
  std::minstd_rand random(seed + 1);
  std::generate(values.begin(), values.end(), [&] { return static_cast<std::uint32_t>(random()); });
  return values;
}

Numbers sums(std::size_t count, int ranks, std::uint32_t seed) {
  Numbers total(count, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const Numbers part = numbers(count, seed + static_cast<std::uint32_t>(rank));
    std::transform(total.begin(), total.end(), part.begin(), total.begin(), std::plus<>());
  }
  return total;
}

void exercise(Team& team, const select::Plan& plan, Operation operation, std::size_t most,
              std::uint32_t seed, const Memory& memory) {
  std::minstd_rand random(seed + 7);
  for (std::uint32_t call = 0; call < 4; ++call) {
    const std::size_t bytes = call == 0 ? most : random() % (most + 1);
    const ProtocolInputs s = setting_of(team, bytes, seed + 100 * call);
    const Trial trial = trial_of(operation, s);
    Buffers buffers(trial, memory);
    team.run_by(plan, call_of(operation, trial, buffers, s));
    ASSERT_EQ(Numbers(buffers.out.begin(), buffers.out.end()), trial.wanted)
        << name(operation) << " by " << select::algorithm_name(plan) << ", rank " << s.rank
        << ", call " << call;
  }
}

struct OwnCall::Parts {
  Parts(const ProtocolInputs& of, Operation by)
      : setting(of), operation(by), trial(trial_of(by, of)), out(trial.out) {}

  ProtocolInputs setting;
  Operation operation;
  Trial trial;
  Numbers out;
};

OwnCall::OwnCall(Team& team, Operation operation, std::size_t bytes, std::uint32_t seed)
    : team_(team), parts_(std::make_unique<Parts>(setting_of(team, bytes, seed), operation)) {}

OwnCall::~OwnCall() = default;

bool OwnCall::is_right() const { return parts_->out == parts_->trial.wanted; }

void OwnCall::run() {
  const Trial& trial = parts_->trial;
  const ProtocolInputs& s = parts_->setting;
  const void* const in = trial.in.data();
  void* const out = parts_->out.data();
  const std::size_t count = trial.call.count;
  const auto root = static_cast<std::size_t>(s.root);
  const auto blocks = [](const std::vector<Block>& list) { return Blocks::listed(list); };
  // The address of the block that goes to the root or comes from it.
  const auto at = [&](auto& of, const std::vector<Block>& list) {
    return of.data() + list[root].offset / static_cast<std::ptrdiff_t>(number_bytes);
  };
  switch (parts_->operation) {
    case Operation::barrier:
      return team_.barrier();
    case Operation::bcast:
      return team_.bcast(out, count, s.root);
    case Operation::reduce:
      return team_.reduce(in, out, count, sum, s.root);
    case Operation::allreduce:
      return team_.allreduce(in, out, count, sum);
    case Operation::allgather:
      return team_.allgather(in, out, count);
    case Operation::allgatherv:
      return team_.allgatherv(in, out, blocks(trial.incoming));
    case Operation::alltoall:
      return team_.alltoall(in, out, count);
    case Operation::alltoallv:
    case Operation::alltoallw:
      return team_.alltoallv(in, blocks(trial.outgoing), out, blocks(trial.incoming));
    case Operation::gather:
      return team_.gather(in, out, count, s.root);
    case Operation::gatherv:
      return team_.gatherv(at(trial.in, trial.outgoing), trial.outgoing[root].bytes, out,
                           blocks(trial.incoming), s.root);
    case Operation::scatter:
      return team_.scatter(in, out, count, s.root);
    case Operation::scatterv:
      return team_.scatterv(in, blocks(trial.outgoing), at(parts_->out, trial.incoming),
                            trial.incoming[root].bytes, s.root);
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return team_.reduce_scatter(in, out, blocks(trial.elements), sum);
    case Operation::scan:
      return team_.scan(in, out, count, sum);
    case Operation::exscan:
      return team_.exscan(in, out, count, sum);
  }
}

}  // namespace huddle::team
