// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single copy between processes: ranks read and write each other's private memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operators.h"
#include "runtime/context/errors.h"
#include "runtime/context/native_context.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/direct_reduce.h"
#include "runtime/node/locality.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/single_copy/cma.h"

namespace huddle::node::test {
namespace {

using context::first_sequence;
using context::NativeContext;

constexpr std::size_t room = 1 << 20;  // of each rank's shared memory

// Memory shared by forked processes.
class Shared {
 public:
  explicit Shared(std::size_t bytes)
      : bytes_(bytes),
        data_(static_cast<std::byte*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Shared() { munmap(data_, bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

// A peer whose memory can no longer be accessed after `times` accesses.
class Failing : public single_copy::CmaMemory {
 public:
  Failing(pid_t process, int times) : CmaMemory(process, single_copy::unwatched), times_(times) {}
  single_copy::ErrorNumber read(std::byte* to, single_copy::RemoteAddress from,
                                std::size_t bytes) noexcept override {
    return times_-- > 0 ? CmaMemory::read(to, from, bytes) : EPERM;
  }
  single_copy::ErrorNumber write(single_copy::RemoteAddress to, const std::byte* from,
                                 std::size_t bytes) noexcept override {
    return times_-- > 0 ? CmaMemory::write(to, from, bytes) : EPERM;
  }
  int failures() const { return std::max(0, -times_); }

 private:
  int times_;
};

// The state of one rank in its process.
struct Rank {
  int rank;
  int ranks;
  std::vector<std::byte*> shared;
  std::vector<std::unique_ptr<single_copy::PeerMemory>> memories;
  std::vector<single_copy::PeerMemory*> peers;
  context::Waiting waiting;
  std::vector<std::byte> scratch;
  context::ProtocolContext context;

  NativeContext world(const void* input, void* output) const {
    return NativeContext(context,
                         {static_cast<const std::byte*>(input), static_cast<std::byte*>(output)});
  }
};

using Work = std::function<bool(Rank& rank)>;
using Open =
    std::function<std::unique_ptr<single_copy::PeerMemory>(int reader, int owner, pid_t process)>;

std::unique_ptr<single_copy::PeerMemory> open_cma(int, int, pid_t process) {
  return std::make_unique<single_copy::CmaMemory>(process, single_copy::unwatched);
}

// The process ids of all ranks, which they exchange before they begin.
struct Roll {
  std::array<std::atomic<pid_t>, 16> processes;
};

int live(int rank, int ranks, std::byte* data, Roll& roll, const Open& open, const Work& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  roll.processes[static_cast<std::size_t>(rank)] = getpid();
  Rank me{rank,
          ranks,
          {},
          {},
          {},
          {{.oversubscribed = true}, nullptr, nullptr},
          std::vector<std::byte>(room),
          {}};
  for (int owner = 0; owner < ranks; ++owner) {
    const auto at = static_cast<std::size_t>(owner);
    while (roll.processes[at] == 0) sched_yield();
    me.shared.push_back(data + at * room);
    me.memories.push_back(open(rank, owner, roll.processes[at]));
    me.peers.push_back(me.memories.back().get());
  }
  me.context = {rank, ranks, me.shared.data(), me.scratch.data(), &me.waiting, me.peers.data()};
  return work(me) ? 0 : 1;
}

// Runs `work` on all ranks. Succeeds if it returns true on each.
testing::AssertionResult on_processes(int ranks, const Work& work, const Open& open = open_cma) {
  const Shared shared(static_cast<std::size_t>(ranks) * room);
  for (std::size_t at = 0; at < static_cast<std::size_t>(ranks) * room; at += 4) {
    std::memcpy(shared.data() + at, &first_sequence, sizeof first_sequence);
  }
  const Shared roll_memory(sizeof(Roll));
  auto& roll = *new (roll_memory.data()) Roll{};
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) _exit(live(rank, ranks, shared.data(), roll, open, work));
    children.push_back(child);
  }
  std::string failed;
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    int status = 0;
    waitpid(children[rank], &status, 0);
    if (status != 0) failed += " " + std::to_string(rank);
  }
  if (failed.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "ranks that did not come to a good end:" << failed;
}

constexpr int process_calls = 100;  // enough for the counters to wrap

std::uint32_t word_of(int from, int to, int call, std::size_t i) {
  return static_cast<std::uint32_t>(call * 1000003 + from * 10007 + to * 101) +
         static_cast<std::uint32_t>(i);
}

class DirectProcesses : public testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }
};

TEST_P(DirectProcesses, Alltoall) {
  EXPECT_TRUE(on_processes(ranks(), [](Rank& me) {
    DirectExchange protocol({1000}, me.ranks, first_sequence);
    bool good = true;
    for (int call = 0; call < process_calls; ++call) {
      const std::size_t words = call % 2 == 0 ? 3 : 5000;
      const std::size_t all = words * static_cast<std::size_t>(me.ranks);
      std::vector<std::uint32_t> input(all);
      std::vector<std::uint32_t> output(all);
      for (std::size_t i = 0; i < all; ++i) {
        input[i] = word_of(me.rank, static_cast<int>(i / words), call, i % words);
      }
      NativeContext ctx = me.world(input.data(), output.data());
      const Blocks blocks = Blocks::even(words * sizeof(std::uint32_t));
      protocol.exchange(ctx, blocks, blocks, false);
      for (std::size_t i = 0; i < all; ++i) {
        good &= output[i] == word_of(static_cast<int>(i / words), me.rank, call, i % words);
      }
    }
    return good;
  }));
}

TEST_P(DirectProcesses, AllgatherInPlaceAndBroadcast) {
  EXPECT_TRUE(on_processes(ranks(), [](Rank& me) {
    DirectExchange protocol({1000}, me.ranks, first_sequence);
    bool good = true;
    for (int call = 0; call < process_calls; ++call) {
      constexpr std::size_t words = 2000;
      const auto mine = words * static_cast<std::size_t>(me.rank);
      std::vector<std::uint32_t> data(words * static_cast<std::size_t>(me.ranks));
      for (std::size_t i = 0; i < words; ++i) data[mine + i] = word_of(me.rank, 0, call, i);
      NativeContext ctx = me.world(data.data() + mine, data.data());
      protocol.allgather(ctx, Blocks::even(words * sizeof(std::uint32_t)), true);
      for (std::size_t i = 0; i < data.size(); ++i) {
        good &= data[i] == word_of(static_cast<int>(i / words), 0, call, i % words);
      }
      const int root = call % me.ranks;
      data.assign(data.size(), me.rank == root ? 7U + static_cast<std::uint32_t>(call) : 0U);
      NativeContext to_all = me.world(data.data(), data.data());
      protocol.bcast(to_all, data.size() * sizeof(std::uint32_t), root, {call % 3});
      good &= std::all_of(data.begin(), data.end(), [&](std::uint32_t word) {
        return word == 7U + static_cast<std::uint32_t>(call);
      });
    }
    return good;
  }));
}

// Roots and numbers of concurrent writers change; every second call is in place.
TEST_P(DirectProcesses, WrittenGather) {
  EXPECT_TRUE(on_processes(ranks(), [](Rank& me) {
    DirectExchange protocol({1000}, me.ranks, first_sequence);
    bool good = true;
    for (int call = 0; call < process_calls; ++call) {
      const std::size_t words = call % 4 < 2 ? 3 : 5000;
      const int root = call % me.ranks;
      const bool in_place = call % 2 == 0;
      std::vector<std::uint32_t> input(words);
      for (std::size_t i = 0; i < words; ++i) input[i] = word_of(me.rank, root, call, i);
      std::vector<std::uint32_t> output(me.rank == root ? words * static_cast<std::size_t>(me.ranks)
                                                        : 0);
      if (in_place && me.rank == root) {
        std::copy(input.begin(), input.end(),
                  output.begin() + static_cast<std::ptrdiff_t>(words) * root);
      }
      NativeContext ctx = me.world(input.data(), output.data());
      const std::size_t bytes = words * sizeof(std::uint32_t);
      protocol.gather(ctx, {0, bytes}, me.rank == root ? Blocks::even(bytes) : Blocks(), root,
                      in_place, {call % 3});
      for (std::size_t i = 0; i < output.size(); ++i) {
        good &= output[i] == word_of(static_cast<int>(i / words), root, call, i % words);
      }
    }
    return good;
  }));
}

TEST_P(DirectProcesses, ReductionsInPlace) {
  using Results = DirectReduce::Results;
  EXPECT_TRUE(on_processes(ranks(), [&](Rank& me) {
    const ReductionOrder reduction_order(unknown_locality(me.ranks));
    DirectReduce protocol({4096, 2}, reduction_order, first_sequence);
    const auto given = [](int rank, int call, std::size_t i) {
      return Bracketed{static_cast<std::uint64_t>(rank) * 1000003 + i * 17 +
                       static_cast<std::uint64_t>(call)};
    };
    bool good = true;
    for (int call = 0; call < process_calls; ++call) {
      const std::size_t count = call % 5 == 0 ? 1 : 5000;
      const int root = call % (me.ranks + 1) - 1;
      std::vector<Bracketed> data(count);
      for (std::size_t i = 0; i < count; ++i) data[i] = given(me.rank, call, i);
      NativeContext ctx = me.world(data.data(), data.data());
      if (root < 0) {
        const bool are_read = call / (me.ranks + 1) % 2 == 0;
        protocol.allreduce(ctx, count, bracketed,
                           {1000, are_read ? Results::are_read : Results::are_written});
      } else {
        protocol.reduce(ctx, count, bracketed, root, {4096});
      }
      if (root >= 0 && root != me.rank) continue;
      for (std::size_t i = 0; i < count; ++i) {
        good &=
            data[i] == joined_by(reduction_order, [&](int rank) { return given(rank, call, i); });
      }
    }
    return good;
  }));
}

// From some call on a rank can no longer read a peer's memory: all ranks fail in that call with the
// same message, and in every later call.
TEST_P(DirectProcesses, AllFailOnceMemoryCannotBeRead) {
  constexpr int good_calls = 10;
  const auto open = [&](int reader, int owner,
                        pid_t process) -> std::unique_ptr<single_copy::PeerMemory> {
    const bool fails = reader == 1 && owner == 0;
    return std::make_unique<Failing>(process, fails ? good_calls : 1000);
  };
  EXPECT_TRUE(on_processes(
      ranks(),
      [](Rank& me) {
        DirectExchange protocol({1000}, me.ranks, first_sequence);
        std::vector<std::byte> input(static_cast<std::size_t>(me.ranks) * 100);
        std::vector<std::byte> output(input.size());
        NativeContext ctx = me.world(input.data(), output.data());
        for (int call = 0; call < 2 * good_calls; ++call) {
          std::string failure;
          try {
            protocol.exchange(ctx, Blocks::even(100), Blocks::even(100), false);
          } catch (const context::PathFailed& error) {
            failure = error.what();
          }
          const std::string wanted =
              call < good_calls
                  ? ""
                  : "rank 1 cannot read the memory of rank 0 any more: Operation not permitted";
          if (failure != wanted) return false;
        }
        return true;
      },
      open));
}

// The same for a rank that can no longer write to a peer's memory.
TEST_P(DirectProcesses, AllFailOnceMemoryCannotBeWritten) {
  constexpr int good_calls = 10;
  const auto open = [&](int writer, int owner,
                        pid_t process) -> std::unique_ptr<single_copy::PeerMemory> {
    const bool fails = writer == 1 && owner == 0;
    return std::make_unique<Failing>(process, fails ? good_calls : 1000);
  };
  EXPECT_TRUE(on_processes(
      ranks(),
      [](Rank& me) {
        DirectExchange protocol({1000}, me.ranks, first_sequence);
        std::vector<std::byte> input(100);
        std::vector<std::byte> output(input.size() * static_cast<std::size_t>(me.ranks));
        NativeContext ctx = me.world(input.data(), output.data());
        const auto failure = [&](int root) -> std::string {
          try {
            protocol.gather(ctx, {0, 100}, me.rank == root ? Blocks::even(100) : Blocks(), root,
                            false, {});
            return {};
          } catch (const context::PathFailed& error) {
            return error.what();
          }
        };
        const std::string refused =
            "rank 1 cannot write to the memory of rank 0 any more: Operation not permitted";
        for (int call = 0; call < 2 * good_calls; ++call) {
          if (failure(0) != (call < good_calls ? "" : refused)) return false;
          if (!failure(1).empty()) return false;
        }
        return true;
      },
      open));
}

// Each rank announces its large blocks; rank r's block for rank r + 1 is the largest.
bool exchanges_announced_blocks(Rank& me) {
  PairExchange protocol({1000, 2}, me.ranks, first_sequence);
  const auto words = [&](int from, int to) {
    const int step = (to - from + me.ranks) % me.ranks;
    return static_cast<std::size_t>(step == 1 ? 5000 : 30 * step);
  };
  bool good = true;
  for (int call = 0; call < process_calls; ++call) {
    std::vector<std::uint32_t> input;
    std::vector<std::uint32_t> wanted;
    std::vector<Block> outgoing;
    std::vector<Block> incoming;
    const auto append = [&](std::vector<std::uint32_t>& all, std::vector<Block>& blocks, int from,
                            int to) {
      const std::size_t count = words(from, to);
      blocks.push_back({static_cast<std::ptrdiff_t>(all.size() * sizeof(std::uint32_t)),
                        count * sizeof(std::uint32_t)});
      for (std::size_t i = 0; i < count; ++i) all.push_back(word_of(from, to, call, i));
    };
    for (int peer = 0; peer < me.ranks; ++peer) {
      append(input, outgoing, me.rank, peer);
      append(wanted, incoming, peer, me.rank);
    }
    std::vector<std::uint32_t> output(wanted.size());
    NativeContext ctx = me.world(input.data(), output.data());
    protocol.run(
        ctx, Blocks::listed(outgoing), Blocks::listed(incoming), false,
        {.tile_bytes = 1000, .order = PairExchange::Order::as_ready, .announced_from = 2000});
    // The caller may overwrite the input once the call has returned.
    std::fill(input.begin(), input.end(), 0U);
    good &= output == wanted;
  }
  return good;
}

TEST_P(DirectProcesses, AnnouncedBlocks) {
  EXPECT_TRUE(on_processes(ranks(), exchanges_announced_blocks));
}

// From some call on a rank can no longer read a peer's memory: no call fails, and the rank tries
// only once.
TEST_P(DirectProcesses, AnnouncedBlocksArriveIfMemoryCannotBeRead) {
  constexpr int good_calls = 10;
  const auto open = [&](int reader, int owner,
                        pid_t process) -> std::unique_ptr<single_copy::PeerMemory> {
    const bool fails = reader == 1 && owner == 0;
    return std::make_unique<Failing>(process, fails ? good_calls : 1000);
  };
  EXPECT_TRUE(on_processes(
      ranks(),
      [](Rank& me) {
        const bool good = exchanges_announced_blocks(me);
        const auto& of_first = dynamic_cast<const Failing&>(*me.memories.front());
        return good && (me.rank != 1 || of_first.failures() == 1);
      },
      open));
}

// The owner exposes an address at which nothing is mapped.
TEST_P(DirectProcesses, AllFailIfMemoryIsUnmapped) {
  EXPECT_TRUE(on_processes(ranks(), [](Rank& me) {
    DirectExchange protocol({1000}, me.ranks, first_sequence);
    std::vector<std::byte> output(1000);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is mapped there
    const void* nowhere = reinterpret_cast<const void*>(std::uintptr_t{4096});
    NativeContext ctx = me.world(me.rank == 0 ? nowhere : output.data(), output.data());
    try {
      protocol.bcast(ctx, output.size(), 0, {});
    } catch (const context::PathFailed&) {
      return true;
    }
    return false;
  }));
}

INSTANTIATE_TEST_SUITE_P(Ranks, DirectProcesses, testing::Values(2, 3, 5),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace huddle::node::test
