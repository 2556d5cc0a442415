// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs with the preloaded malloc, whose heap is started before main(): see CMakeLists.txt.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "early_handlers.h"
#include "runtime/heap/start.h"

namespace huddle::heap {
namespace {

constexpr std::size_t kibibyte = std::size_t{1} << 10;
constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t large_bytes = 100 * kibibyte;  // HUDDLE_HEAP_THRESHOLD is 64K
constexpr std::size_t small_bytes = 10 * kibibyte;
constexpr std::size_t over_cap_bytes = 2048 * mebibyte;  // HUDDLE_HEAP_LIMIT is 1G
constexpr std::size_t over_fork_bytes = 80 * mebibyte;   // HUDDLE_HEAP_FORK_LIMIT is 64M

const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

// Makes the compiler assume that the block is used, so that it does not optimise allocations away.
template <class Pointer>
Pointer seen(Pointer block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

memory::HeapFacts facts() { return start({}).facts.value_or(memory::HeapFacts{}); }
bool is_in_heap(const void* block) { return facts().holds(block); }

struct Free {
  void operator()(void* block) const { std::free(block); }
};
using Block = std::unique_ptr<unsigned char, Free>;
Block block_of(void* address) { return Block(static_cast<unsigned char*>(seen(address))); }
Block filled(std::size_t bytes, int value) {
  Block block = block_of(std::malloc(bytes));
  std::memset(block.get(), value, bytes);
  return block;
}
bool holds_only(const unsigned char* block, std::size_t bytes, int value) {
  return std::all_of(block, block + bytes, [value](unsigned char c) { return c == value; });
}

// Forks, and returns whether the child found the expected data.
bool child_finds(
    const std::function<bool()>& work, const std::function<void()>& meanwhile = [] {}) {
  std::array<int, 2> go{};
  EXPECT_EQ(pipe(go.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(go[1]);
    char word = 0;
    _exit(read(go[0], &word, 1) == 0 && work() ? 0 : 1);
  }
  meanwhile();
  close(go[0]);
  close(go[1]);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(Malloc, AllocatesLargeBlocksFromHeap) {
  ASSERT_TRUE(facts().descriptor >= 0) << start({}).refusal;
  EXPECT_TRUE(is_in_heap(filled(large_bytes, 1).get()));
  EXPECT_FALSE(is_in_heap(filled(small_bytes, 1).get()));
  EXPECT_TRUE(is_in_heap(std::make_unique<char[]>(large_bytes).get()));
  EXPECT_TRUE(is_in_heap(block_of(std::calloc(1, large_bytes)).get()));
  EXPECT_TRUE(is_in_heap(block_of(reallocarray(nullptr, 1, large_bytes)).get()));
}

TEST(Malloc, UsesNextMallocIfHeapIsFull) {
  const Block large = block_of(std::malloc(over_cap_bytes));
  EXPECT_NE(large, nullptr);
  EXPECT_FALSE(is_in_heap(large.get()));
}

TEST(Malloc, AllFunctionsAlignAsSpecified) {
  for (const std::size_t bytes : {small_bytes, 2 * mebibyte}) {
    const auto expect = [&](void* address, std::size_t alignment) {
      const Block block = block_of(address);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % alignment, 0U);
      EXPECT_EQ(is_in_heap(block.get()), bytes >= large_bytes);
      EXPECT_GE(malloc_usable_size(block.get()), bytes);
      std::memset(block.get(), 1, bytes);
    };
    expect(std::malloc(bytes), alignof(std::max_align_t));
    expect(std::aligned_alloc(256, bytes), 256);
    expect(memalign(2 * mebibyte, bytes), bytes < large_bytes ? 1 : 2 * mebibyte);
    expect(memalign(3000, bytes), 4096);
    expect(valloc(bytes), page);
    expect(pvalloc(bytes - 1), page);
    void* block = nullptr;
    EXPECT_EQ(posix_memalign(&block, 64 * kibibyte, bytes), 0);
    expect(block, 64 * kibibyte);
  }
}

TEST(Malloc, FailsLikeCLibrary) {
  const volatile std::size_t too_much = PTRDIFF_MAX;
  for (const auto& call : std::vector<std::function<void*()>>{
           [&] { return std::malloc(too_much); }, [&] { return std::calloc(too_much, 4); },
           [&] { return reallocarray(nullptr, too_much, 4); },
           [&] { return pvalloc(2 * too_much + 1); },
           [&] { return std::realloc(nullptr, too_much); }}) {
    errno = 0;
    EXPECT_EQ(seen(call()), nullptr);
    EXPECT_EQ(errno, ENOMEM);
  }
  void* block = nullptr;
  errno = 0;
  EXPECT_EQ(posix_memalign(&block, 3, large_bytes), EINVAL);
  EXPECT_EQ(posix_memalign(&block, 4, large_bytes), EINVAL);
  EXPECT_EQ(posix_memalign(&block, 64, too_much), ENOMEM);
  EXPECT_EQ(errno, 0);
}

TEST(Malloc, PreservesErrno) {
  errno = EXDEV;
  for (int i = 0; i < 3; ++i) {
    void* block = seen(std::malloc(50 * mebibyte));
    std::memset(block, 1, 50 * mebibyte);
    block = seen(std::realloc(block, 60 * mebibyte));
    std::free(block);
  }
  EXPECT_EQ(errno, EXDEV);
}

TEST(Malloc, CallocZeroes) {
  for (int i = 0; i < 20; ++i) {
    const Block block = block_of(std::calloc(3, large_bytes));
    EXPECT_TRUE(holds_only(block.get(), 3 * large_bytes, 0));
    std::memset(block.get(), 1, 3 * large_bytes);
  }
}

TEST(Malloc, ReallocMovesBlocksToAndFromHeap) {
  const std::size_t kept = 5 * kibibyte;
  void* block = filled(kept, 7).release();
  for (const std::size_t bytes : {large_bytes, 3 * large_bytes, 2 * large_bytes, large_bytes,
                                  small_bytes, over_cap_bytes, 5 * large_bytes, kept}) {
    block = seen(std::realloc(block, bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_GE(malloc_usable_size(block), bytes);
    EXPECT_TRUE(holds_only(static_cast<unsigned char*>(block), kept, 7));
    EXPECT_FALSE(bytes < large_bytes && is_in_heap(block)) << bytes;
  }
  std::free(block);
  EXPECT_TRUE(is_in_heap(block_of(std::realloc(filled(kept, 1).release(), large_bytes)).get()));
  EXPECT_EQ(std::realloc(filled(large_bytes, 1).release(), 0), nullptr);
}

TEST(Malloc, FailedReallocKeepsBlock) {
  Block block = filled(large_bytes, 3);
  const volatile std::size_t too_much = PTRDIFF_MAX;
  EXPECT_EQ(seen(std::realloc(block.get(), too_much)), nullptr);
  EXPECT_TRUE(holds_only(block.get(), large_bytes, 3));
}

bool is_checked() {
  const char* const setting = std::getenv("HUDDLE_HEAP");
  return setting != nullptr && std::string(setting) == "check";
}

// Returns the largest memory that the process has had since the last call of forget_peak().
std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::size_t kibibytes = 0;
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") status >> kibibytes;
  }
  return kibibytes * kibibyte;
}
bool forget_peak() {
  return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << 5 << std::flush);
}

TEST(Malloc, ReallocOfLargeBlockNeedsLittleMoreThanNewBlock) {
  constexpr std::size_t old_bytes = 200 * mebibyte;
  constexpr std::size_t new_bytes = 220 * mebibyte;
  Block block = filled(old_bytes, 3);
  const Block neighbour = filled(old_bytes, 4);
  if (is_checked()) GTEST_SKIP() << "fills new blocks before they are used";
  const unsigned char* const old_place = block.get();
  if (!forget_peak()) GTEST_SKIP() << "the kernel does not reset the peak";
  const std::size_t before = peak_bytes();
  block = block_of(std::realloc(block.release(), new_bytes));
  EXPECT_LT(peak_bytes(), before + old_bytes / 2);
  EXPECT_TRUE(holds_only(block.get(), old_bytes, 3));
  EXPECT_TRUE(holds_only(neighbour.get(), old_bytes, 4));
  EXPECT_TRUE(block.get() != old_place) << "it was not moved";
}

TEST(Malloc, ReallocShrinksInPlace) {
  Block block = filled(10 * mebibyte, 3);
  unsigned char* const before = block.get();
  block = block_of(std::realloc(block.release(), mebibyte));
  EXPECT_TRUE(is_checked() || block.get() == before);
  EXPECT_TRUE(holds_only(block.get(), mebibyte, 3));
  EXPECT_LT(malloc_usable_size(block.get()), 2 * mebibyte);
}

// Returns whether dropped pages read zeros. Requires: the block begins on a page.
bool has_zeros_where_dropped(unsigned char* block, std::size_t bytes, int advice) {
  std::memset(block, 1, bytes);
  const std::size_t dropped = bytes / 2;
  return madvise(block + page, dropped, advice) == 0 && holds_only(block, page, 1) &&
         holds_only(block + page, dropped, 0) &&
         holds_only(block + page + dropped, bytes - page - dropped, 1);
}

TEST(Malloc, DroppedPagesReadZero) {
  const Block block = block_of(std::aligned_alloc(page, mebibyte));
  ASSERT_TRUE(is_in_heap(block.get()));
  EXPECT_TRUE(has_zeros_where_dropped(block.get(), mebibyte, MADV_DONTNEED));
  EXPECT_TRUE(has_zeros_where_dropped(block.get(), mebibyte, MADV_FREE));
  EXPECT_TRUE(
      child_finds([&] { return has_zeros_where_dropped(block.get(), mebibyte, MADV_DONTNEED); }));
  errno = 0;
  EXPECT_EQ(madvise(block.get() + 1, page, MADV_DONTNEED), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST(MallocDeathTest, DoubleFreeAborts) {
  const Block block = filled(large_bytes, 1);
  EXPECT_DEATH(
      {
        std::free(seen(block.get()));
        std::free(seen(block.get()));
      },
      "free\\(\\) an address that is not the start of an allocated block");
}

TEST(HeapStart, ReturnsSameHeapAgain) { EXPECT_EQ(facts().base, start({1, 2, 3}).facts->base); }

// In a process without a heap so far: an earlier caller may still be reading the refusal.
TEST(HeapRefusal, IsFinal) {
  const Request too_much{.cap_bytes = std::size_t{1} << 62};
  const std::string why = start(too_much).refusal;
  EXPECT_NE(why, "");
  EXPECT_EQ(start({}).refusal, why);
}

TEST(HeapStart, RejectsOtherVersion) {
  auto* const ask = reinterpret_cast<huddle_heap_start_function*>(dlsym(RTLD_DEFAULT, start_name));
  const huddle_heap_request request{version + 1, 0, 0, 0, false};
  EXPECT_EQ(ask(&request), nullptr);
}

// Checks that parent and child can write to the same block without seeing each other's writes.
void expect_two_worlds(std::size_t bytes) {
  const Block block = filled(bytes, 1);
  ASSERT_TRUE(is_in_heap(block.get()));
  EXPECT_TRUE(child_finds(
      [&] {
        const bool is_kept = holds_only(block.get(), bytes, 1);
        std::memset(block.get(), 2, bytes);
        Block more = filled(bytes, 3);
        more = block_of(std::realloc(more.release(), 2 * bytes));
        return is_kept && holds_only(more.get(), bytes, 3) && holds_only(block.get(), bytes, 2);
      },
      [&] { std::memset(block.get(), 4, bytes); }));
  EXPECT_TRUE(holds_only(block.get(), bytes, 4));
}

TEST(MallocFork, ParentAndChildHaveSeparateBlocks) {
  expect_two_worlds(large_bytes);
  EXPECT_TRUE(facts().state->is_shared);
  expect_two_worlds(50 * mebibyte);
  EXPECT_TRUE(facts().state->is_shared);
}

TEST(MallocForkAboveTheCap, EndsSharing) {
  const Block before = block_of(std::aligned_alloc(page, mebibyte));
  expect_two_worlds(over_fork_bytes);
  EXPECT_FALSE(facts().state->is_shared);
  ASSERT_TRUE(is_in_heap(before.get()));
  EXPECT_TRUE(has_zeros_where_dropped(before.get(), mebibyte, MADV_DONTNEED));
  const Block block = filled(large_bytes, 1);
  EXPECT_FALSE(is_in_heap(block.get()));
  EXPECT_TRUE(child_finds([&] { return holds_only(block.get(), large_bytes, 1); }));
}

TEST(MallocFork, KeepsSharingAfterStackWasFreed) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  Block stack = block_of(std::aligned_alloc(page, 256 * kibibyte));
  ASSERT_TRUE(is_in_heap(stack.get()));
  ASSERT_EQ(pthread_attr_setstack(&attributes, stack.get(), 256 * kibibyte), 0);
  pthread_attr_destroy(&attributes);
  stack.reset();
  expect_two_worlds(large_bytes);
  EXPECT_TRUE(facts().state->is_shared);
}

TEST(MallocFork, KeepsSharingWhilePeersUsePages) {
  facts().state->calls = 1;
  expect_two_worlds(over_fork_bytes);
  EXPECT_TRUE(facts().state->is_shared);
  facts().state->calls = 0;
}

// libibverbs does this when a buffer is registered or deregistered.
TEST(MallocFork, CopiesPagesDespiteMadviseDofork) {
  const Block block = block_of(std::aligned_alloc(page, mebibyte));
  ASSERT_TRUE(is_in_heap(block.get()));
  std::memset(block.get(), 1, mebibyte);
  for (const int advice : {MADV_DONTFORK, MADV_DOFORK}) {
    ASSERT_EQ(madvise(block.get(), mebibyte, advice), 0);
  }
  EXPECT_TRUE(child_finds(
      [&] {
        const bool is_kept = holds_only(block.get(), mebibyte, 1);
        std::memset(block.get(), 2, mebibyte);
        return is_kept;
      },
      [&] { std::memset(block.get(), 3, page); }));
  EXPECT_TRUE(holds_only(block.get(), page, 3));
  EXPECT_TRUE(holds_only(block.get() + page, mebibyte - page, 1));
  EXPECT_TRUE(facts().state->is_shared);
}

// _Fork() calls no handlers.
TEST(MallocForkDeathTest, ChildOfRawForkSharesNothing) {
  const Block block = block_of(std::aligned_alloc(page, mebibyte));
  ASSERT_EQ(madvise(block.get(), mebibyte, MADV_DOFORK), 0);
  std::memset(block.get(), 1, mebibyte);
  const pid_t child = _Fork();
  if (child == 0) {
    std::memset(block.get(), 2, mebibyte);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(holds_only(block.get(), mebibyte, 1));
}

// Forks on the stack that the test gave to a thread or a context.
void fork_here() {
  expect_two_worlds(large_bytes);
  const Block block = filled(small_bytes, 1);
  EXPECT_TRUE(child_finds([&] { return holds_only(block.get(), small_bytes, 1); }));
}

constexpr std::size_t stack_bytes = 256 * kibibyte;

TEST(MallocForkOnThread, WorksIfStackIsFromMalloc) {
  const Block stack = block_of(std::aligned_alloc(page, stack_bytes));
  ASSERT_TRUE(is_in_heap(stack.get()));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstack(&attributes, stack.get(), stack_bytes), 0);
  const auto work = [](void* /*nothing*/) -> void* {
    fork_here();
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, work, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_FALSE(facts().state->is_shared);
}

// The C library changes its list of threads, which lies in their stacks, in the child before any
// fork handler.
TEST(MallocForkBesideThread, WorksIfItsStackIsFromMalloc) {
  constexpr int threads = 3;
  std::vector<Block> stacks;
  std::vector<pthread_t> sleepers(threads);
  std::array<int, 2> wake{};
  ASSERT_EQ(pipe(wake.data()), 0);
  for (pthread_t& sleeper : sleepers) {
    stacks.push_back(block_of(std::aligned_alloc(page, stack_bytes)));
    ASSERT_TRUE(is_in_heap(stacks.back().get()));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstack(&attributes, stacks.back().get(), stack_bytes), 0);
    const auto sleep = [](void* pipe_end) -> void* {
      char word = 0;
      return read(*static_cast<int*>(pipe_end), &word, 1) == 0 ? nullptr : pipe_end;
    };
    ASSERT_EQ(pthread_create(&sleeper, &attributes, sleep, wake.data()), 0);
    pthread_attr_destroy(&attributes);
  }
  fork_here();
  EXPECT_FALSE(facts().state->is_shared);
  close(wake[1]);
  for (const pthread_t sleeper : sleepers) EXPECT_EQ(pthread_join(sleeper, nullptr), 0);
}

TEST(MallocForkInContext, WorksIfStackIsFromMalloc) {
  const Block stack = block_of(std::malloc(stack_bytes));
  ASSERT_TRUE(is_in_heap(stack.get()));
  ucontext_t here{};
  ucontext_t there{};
  getcontext(&there);
  there.uc_stack.ss_sp = stack.get();
  there.uc_stack.ss_size = stack_bytes;
  there.uc_link = &here;
  makecontext(&there, fork_here, 0);
  swapcontext(&here, &there);
  EXPECT_FALSE(facts().state->is_shared);
}

// system() and popen() only start another program and do not cause a copy.
TEST(MallocFork, SystemAndPopenDoNotCopy) {
  const Block block = filled(over_fork_bytes, 1);
  EXPECT_EQ(std::system("true"), 0);
  FILE* const output = popen("true", "r");
  EXPECT_EQ(pclose(output), 0);
  EXPECT_TRUE(facts().state->is_shared);
}

// early_handlers.cc registers these handlers in a constructor that runs before those of preloaded
// libraries.
TEST(MallocFork, HandlersOfEarlierLibrariesCanUseBlocks) {
  const Block block = filled(large_bytes, 1);
  watch_in_fork_handlers(block.get(), large_bytes);
  EXPECT_TRUE(child_finds([&] { return holds_only(block.get(), large_bytes, 2); }));
  watch_in_fork_handlers(nullptr, 0);
  EXPECT_TRUE(holds_only(block.get(), large_bytes, 1));
}

// These handlers are registered after the heap's.
TEST(MallocFork, LaterHandlersCanAllocate) {
  static std::vector<Block> blocks;
  const auto handler = [] {
    blocks.push_back(filled(mebibyte, 1));
    blocks.push_back(filled(small_bytes, 1));
  };
  const Block kept = filled(large_bytes, 5);
  pthread_atfork(handler, handler, handler);
  EXPECT_TRUE(child_finds([&] {
    return blocks.size() == 4 && holds_only(blocks[2].get(), mebibyte, 1) &&
           holds_only(kept.get(), large_bytes, 5);
  }));
  EXPECT_EQ(blocks.size(), 4U);
  blocks.clear();
}

// The blocks of one thread, each filled with a value of its own.
class Juggler {
 public:
  explicit Juggler(unsigned seed) : random_(seed) {}

  void act() {
    if (held_.size() > 12) drop();
    const std::size_t bytes = 1 + random_() % (random_() % 4 == 0 ? 3 * mebibyte : 200 * kibibyte);
    if (!held_.empty() && random_() % 3 == 0) {
      resize(held_[random_() % held_.size()], bytes);
    } else {
      take(bytes);
    }
  }
  bool all_hold() const {
    return std::all_of(held_.begin(), held_.end(), [](const Held& held) {
      return holds_only(held.block.get(), held.bytes, held.value);
    });
  }

 private:
  struct Held {
    Block block;
    std::size_t bytes = 0;
    int value = 0;
  };

  int any_value() { return static_cast<int>(random_() % 255 + 1); }
  void take(std::size_t bytes) {
    const bool is_zero = random_() % 4 == 0;
    Held held{block_of(is_zero ? std::calloc(bytes, 1)
                               : memalign(std::size_t{1} << (random_() % 14), bytes)),
              bytes, is_zero ? 0 : any_value()};
    if (!is_zero) std::memset(held.block.get(), held.value, bytes);
    held_.push_back(std::move(held));
  }
  void resize(Held& held, std::size_t bytes) {
    held.block = block_of(std::realloc(held.block.release(), bytes));
    EXPECT_TRUE(holds_only(held.block.get(), std::min(bytes, held.bytes), held.value));
    held.bytes = bytes;
    held.value = any_value();
    std::memset(held.block.get(), held.value, bytes);
  }
  void drop() {
    std::swap(held_[random_() % held_.size()], held_.back());
    EXPECT_TRUE(holds_only(held_.back().block.get(), held_.back().bytes, held_.back().value));
    held_.pop_back();
  }

  std::mt19937 random_;
  std::vector<Held> held_;
};

int rounds() {
  const char* const asked = std::getenv("HEAP_ROUNDS");
  return asked == nullptr ? 300 : std::atoi(asked);
}

// Threads allocate, resize and free blocks while one of them forks. In each child, the blocks of
// the forking thread are intact and allocation works.
TEST(MallocStress, BlocksStayIntactAcrossThreadsAndForks) {
  const auto juggle = [](unsigned seed, bool forks) {
    Juggler juggler(seed);
    for (int i = 0; i < rounds(); ++i) {
      juggler.act();
      if (!forks || i % 20 != 0) continue;
      EXPECT_TRUE(child_finds([&] {
        for (int more = 0; more < 20; ++more) juggler.act();
        return juggler.all_hold();
      }));
    }
    EXPECT_TRUE(juggler.all_hold());
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(juggle, seed, seed == 1);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace huddle::heap
