// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/arena.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/arithmetic.h"
#include "common/error.h"
#include "runtime/memory/page_buffer.h"

namespace {

// Number of calls of posix_fallocate() on this thread that will be interrupted, as by a timer.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): it replaces a C function
thread_local int interruptions_left = 0;

bool lets_signals_through() {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, SIGALRM) == 0;
}

}  // namespace

// Replaces the C library's function in this program.
extern "C" int posix_fallocate(int file, off_t offset, off_t bytes) {
  if (interruptions_left > 0 && lets_signals_through()) {
    return --interruptions_left == 0 ? ETIME : EINTR;
  }
  return fallocate(file, 0, offset, bytes) == 0 ? 0 : errno;
}

namespace huddle::memory {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::size_t file_memory_bytes(const Arena& arena) {
  struct stat info {};
  fstat(arena.descriptor(), &info);
  return static_cast<std::size_t>(info.st_blocks) * 512;
}

TEST(Arena, PiecesAreUsableAndDoNotOverlap) {
  Arena arena({.cap_bytes = 64 * MiB});
  std::vector<Piece> pieces;
  for (std::size_t i = 1; i < 100; ++i) {
    pieces.push_back(arena.allocate(100 * i));
    EXPECT_EQ(pieces.back().offset % Arena::least_alignment, 0U);
    EXPECT_GE(pieces.back().bytes, 100 * i);
    std::memset(arena.data(pieces.back()), static_cast<int>(i), pieces.back().bytes);
  }
  for (std::size_t i = 1; i < 100; ++i) {
    const Piece piece = pieces[i - 1];
    EXPECT_EQ(arena.data(piece)[0], std::byte(i));
    EXPECT_EQ(arena.data(piece)[piece.bytes - 1], std::byte(i));
  }
}

// Kernels before 6.18 interrupt the call on a signal and undo its work.
TEST(Arena, AllocatesDespiteFrequentSignals) {
  Arena arena({.cap_bytes = 64 * MiB});
  interruptions_left = 1000;
  const Piece piece = arena.allocate(32 * MiB);
  interruptions_left = 0;
  EXPECT_GE(file_memory_bytes(arena), piece.bytes);
}

TEST(Arena, AlignsAsRequested) {
  Arena arena({.cap_bytes = 64 * MiB});
  for (const std::size_t alignment : {std::size_t{1}, page_bytes(), 2 * MiB}) {
    EXPECT_EQ(arena.allocate(5000, alignment).offset % alignment, 0U);
  }
}

TEST(Arena, SmallPiecesShareAPage) {
  Arena arena({.cap_bytes = 64 * MiB});
  for (int i = 0; i < 15; ++i) arena.allocate(4096 - 1);
  EXPECT_LE(arena.reserved_bytes(), 2 * (std::size_t{64} << 10));
}

TEST(Arena, ReservesMemoryOfPieces) {
  Arena arena({.cap_bytes = 64 * MiB});
  const Piece piece = arena.allocate(10 * MiB);
  EXPECT_EQ(arena.used_bytes(), piece.bytes);
  EXPECT_GE(arena.reserved_bytes(), 10 * MiB);
  EXPECT_GE(file_memory_bytes(arena), arena.reserved_bytes());
}

TEST(Arena, ReturnsLargeFreePartsToSystem) {
  Arena arena({.cap_bytes = 64 * MiB});
  const std::size_t before = file_memory_bytes(arena);
  const Piece first = arena.allocate(8 * MiB);
  const Piece between = arena.allocate(1);
  const Piece last = arena.allocate(8 * MiB);
  arena.free(last);
  arena.free(first);
  EXPECT_LE(file_memory_bytes(arena), before + 9 * MiB);
  EXPECT_EQ(arena.used_bytes(), between.bytes);
  EXPECT_LE(file_memory_bytes(arena), arena.reserved_bytes() + page_bytes());
}

TEST(Arena, ReusesFreedPieces) {
  Arena arena({.cap_bytes = 64 * MiB});
  for (int i = 0; i < 100'000; ++i) arena.free(arena.allocate(3000));
  EXPECT_LE(arena.reserved_bytes(), 2 * (std::size_t{64} << 10));
}

TEST(Arena, ReportsThatCapIsReached) {
  Arena arena({.cap_bytes = MiB});
  EXPECT_THAT(
      [&] { arena.allocate(MiB); },
      ThrowsMessage<FailureError>(HasSubstr("the shared memory of this process is limited to 1M")));
  EXPECT_THROW(arena.allocate(~std::size_t{0}), FailureError);
  EXPECT_THROW(Arena({.cap_bytes = 1}), InputError);
}

TEST(Arena, CanBeFilledUpToCapDespiteFragmentation) {
  const std::size_t most = 32 * MiB - page_bytes();
  Arena arena({.cap_bytes = 32 * MiB});
  arena.free(arena.allocate(most));
  std::mt19937 random(20261120);
  std::vector<Piece> pieces;
  for (int i = 0; i < 300; ++i) pieces.push_back(arena.allocate(random() % 90'000 + 1));
  std::shuffle(pieces.begin(), pieces.end(), random);
  for (const Piece piece : pieces) arena.free(piece);
  const Piece all = arena.allocate(most);
  std::memset(arena.data(all), 1, all.bytes);
}

TEST(Arena, ReportsFileSizeLimitInsteadOfDying) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{MiB, MiB};
    setrlimit(RLIMIT_FSIZE, &limit);
    Arena arena({.cap_bytes = 64 * MiB});
    try {
      arena.allocate(2 * MiB);
    } catch (const FailureError& error) {
      arena.allocate(1000);
      _exit(std::string(error.what()).find("ulimit -f") != std::string::npos ? 0 : 1);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Arena, UsesFolderWithoutMemfd) {
  Arena arena({.cap_bytes = MiB, .kind = ArenaFile::Kind::in_folder});
  const Piece piece = arena.allocate(10'000);
  std::memset(arena.data(piece), 1, piece.bytes);
  EXPECT_THAT(
      [] {
        Arena({.cap_bytes = MiB, .kind = ArenaFile::Kind::in_folder, .folder = "/no/such/folder"});
      },
      ThrowsMessage<FailureError>(HasSubstr("/no/such/folder")));
}

// A program may close descriptors that it does not know, and reuse their numbers.
TEST(Arena, DoesNotTouchFileThatReusedItsDescriptor) {
  std::optional<Arena> arena(std::in_place, ArenaOptions{.cap_bytes = 256 * MiB});
  const Piece first = arena->allocate(64 * MiB);
  const int number = arena->descriptor();
  std::FILE* const file = std::tmpfile();
  const std::string text(80 * MiB, 'x');
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  EXPECT_EQ(std::fflush(file), 0);
  EXPECT_EQ(dup2(fileno(file), number), number);
  arena->free(first);
  std::memset(arena->data(arena->allocate(32 * MiB)), 1, 32 * MiB);  // reserved before
  EXPECT_THAT([&] { arena->allocate(128 * MiB); },
              ThrowsMessage<FailureError>(HasSubstr("has closed the file descriptor")));
  std::string found(text.size() + 1, '-');
  EXPECT_EQ(pread(fileno(file), found.data(), found.size(), 0), text.size());
  EXPECT_TRUE(found == text + '-') << "the program's file is not as it was";
  arena.reset();
  EXPECT_NE(fcntl(number, F_GETFD), -1) << "the program's file is closed";
  close(number);
  std::fclose(file);
}

TEST(Arena, IsIdentifiedById) {
  const Arena arena({.cap_bytes = MiB});
  const Arena other({.cap_bytes = MiB});
  EXPECT_NE(arena.id(), other.id());
  EXPECT_TRUE(is_arena(arena.descriptor(), arena.id(), arena.cap_bytes()));
  EXPECT_FALSE(is_arena(arena.descriptor(), other.id(), arena.cap_bytes()));
  EXPECT_FALSE(is_arena(arena.descriptor(), arena.id(), 2 * MiB));
  EXPECT_FALSE(is_arena(STDIN_FILENO, arena.id(), arena.cap_bytes()));
}

TEST(Arena, IsSharedBetweenMappings) {
  Arena arena({.cap_bytes = 64 * MiB});
  const ArenaView view(arena.descriptor(), arena.cap_bytes());
  const Piece piece = arena.allocate(4 * MiB);  // after it was mapped
  std::memset(arena.data(piece), 42, piece.bytes);
  EXPECT_EQ(view.base()[piece.end() - 1], std::byte{42});
}

TEST(Arena, IsNotInheritedByChild) {
  Arena arena({.cap_bytes = MiB});
  const Piece piece = arena.allocate(1);
  const pid_t child = fork();
  if (child == 0) {
    // A mapping of the child at that address must survive its copy of the arena.
    ArenaView mine(arena.descriptor(), MiB);
    arena.~Arena();
    _exit(mine.base()[piece.offset] == std::byte{0} ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  arena.data(piece)[0] = std::byte{1};
}

TEST(Arena, IsThreadSafe) {
  Arena arena({.cap_bytes = 64 * MiB});
  std::vector<std::thread> threads;
  for (unsigned int seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&arena, seed] {
      std::mt19937 random(seed);
      std::vector<Piece> mine;
      for (int i = 0; i < 2000; ++i) {
        mine.push_back(arena.allocate(random() % 20'000 + 1));
        std::memset(arena.data(mine.back()), static_cast<int>(seed), mine.back().bytes);
        if (mine.size() < 20) continue;
        const std::size_t which = random() % mine.size();
        EXPECT_EQ(arena.data(mine[which])[mine[which].bytes - 1], std::byte(seed));
        arena.free(mine[which]);
        mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(which));
      }
      for (const Piece piece : mine) arena.free(piece);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena.used_bytes(), 0U);
}

}  // namespace
}  // namespace huddle::memory
