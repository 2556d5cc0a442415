// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/path_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/error.h"
#include "common/other_processes.h"
#include "runtime/memory/copy.h"
#include "tools/calibrate/repeat.h"

namespace huddle::calibrate {
namespace {

// Runs in the child. At the time of the fork, another thread may have held any lock, so this calls
// only functions that take no locks.
[[noreturn]] void hold_memory(pid_t parent, const memory::PageBuffer& buffer, int ready_pipe,
                              PeerProcess::Idle idle) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // Ctrl-C ends the parent, which ends the child.
  std::signal(SIGINT, SIG_IGN);
  std::memset(buffer.data(), static_cast<int>(PeerProcess::fill), buffer.size());
  const char ready = 1;
  if (write(ready_pipe, &ready, 1) != 1) _exit(1);
  while (true) idle == PeerProcess::Idle::yields ? sched_yield() : pause();
}

single_copy::RemoteAddress address_in(const PeerProcess& peer, std::size_t offset) {
  return reinterpret_cast<std::uintptr_t>(peer.remote_data()) + offset;
}

void check(single_copy::ErrorNumber error, std::string_view what) {
  if (error == single_copy::fine) return;
  throw FailureError(
      fmt::format("{} another process's memory: {}", what, single_copy::text_of(error)));
}

}  // namespace

PeerProcess::PeerProcess(MeasuringThreads& crew, int pu, std::size_t bytes, Idle idle)
    : buffer_(bytes) {
  // A child runs, and places its memory, on the hardware thread of the thread that forks it.
  crew.run(std::array{pu}, [this, idle](std::size_t) { start(idle); });
}

void PeerProcess::start(Idle idle) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    throw FailureError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) hold_memory(parent, buffer_, pipe_ends[1], idle);
  const std::string why = child < 0 ? std::strerror(errno) : "it ended immediately";
  close(pipe_ends[1]);
  char ready = 0;
  const bool is_ready = child > 0 && read(pipe_ends[0], &ready, 1) == 1;
  close(pipe_ends[0]);
  if (is_ready) {
    pid_ = child;
    watch_ = open_process(child);
    return;
  }
  if (child > 0) waitpid(child, nullptr, 0);
  throw FailureError(fmt::format("cannot start a process to read from: {}", why));
}

PeerProcess::~PeerProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::unique_ptr<single_copy::PeerMemory> memory_of(const PeerProcess& peer,
                                                   const single_copy::PeerPath& path) {
  return single_copy::open(path, {.process = peer.pid(), .watch = peer.watch()});
}

void read_from_peer(single_copy::PeerMemory& memory, const PeerProcess& peer,
                    std::span<std::byte> target, std::size_t offset) {
  check(memory.read(target.data(), address_in(peer, offset), target.size()), "reading");
}

void write_to_peer(single_copy::PeerMemory& memory, const PeerProcess& peer, std::size_t offset,
                   std::span<const std::byte> data) {
  check(memory.write(address_in(peer, offset), data.data(), data.size()), "writing to");
}

std::string refusal_of(single_copy::PeerMemory& memory, const PeerProcess& peer) {
  single_copy::Proof proof{.address = address_in(peer, 0)};
  std::memset(&proof.word, static_cast<int>(PeerProcess::fill), sizeof proof.word);
  std::string why = single_copy::reading_refusal(memory, proof);
  return why.empty() ? single_copy::writing_refusal(memory, proof) : why;
}

namespace {

// Even the smallest read takes about a microsecond, so a sample of small reads takes about 10 us.
// The limit on the bytes ensures that the data were written recently: they are then nearest to the
// writer and farthest from the reader. A read of 64 KiB took 7.6 us if only that block had been
// written, but 5.4 us per block if four had.
constexpr std::size_t most_calls_a_sample = 16;
constexpr std::size_t bytes_a_sample = 16 * 1024;

// Each call of a sample has its own block, because data that was read before is in the reader's
// cache.
struct Blocks {
  std::size_t bytes;
  std::size_t count;

  explicit Blocks(std::size_t size)
      : bytes(size),
        count(std::clamp<std::size_t>(bytes_a_sample / size, 1, most_calls_a_sample)) {}
  std::size_t offset(std::size_t block) const { return block * (bytes + block_distance_bytes); }
};

std::size_t path_room(std::size_t most_bytes) {
  return most_bytes + bytes_a_sample + most_calls_a_sample * block_distance_bytes;
}

// Writes the number of the round to every cache line.
void vary(std::span<std::byte> data, std::uint32_t round) {
  for (std::size_t at = 0; at + sizeof round <= data.size(); at += memory::line_bytes) {
    std::memcpy(data.data() + at, &round, sizeof round);
  }
}

}  // namespace

PathProbe::PathProbe(MeasuringThreads& crew, const single_copy::PeerPath& path,
                     std::span<const Pair> pairs, std::size_t most_bytes)
    : crew_(crew), path_(path), readers_(pairs.size()), targets_(pairs.size()) {
  for (const Pair& pair : pairs) members_.push_back(pair.first);
  for (const Pair& pair : pairs) {
    peers_.push_back(std::make_unique<PeerProcess>(crew_, pair.second, path_room(most_bytes)));
    memories_.push_back(memory_of(*peers_.back(), path_));
    auto writer = std::find(members_.begin(), members_.end(), pair.second);
    if (writer == members_.end()) writer = members_.insert(writer, pair.second);
    writers_.push_back(static_cast<std::size_t>(writer - members_.begin()));
  }
  sources_.resize(members_.size());
  crew_.run(members_, [&](std::size_t who) {
    sources_[who] = memory::PageBuffer(most_bytes);
    sources_[who].touch();
    if (who >= readers_) return;
    targets_[who] = memory::PageBuffer(most_bytes);
    targets_[who].touch();
  });
}

std::string PathProbe::refusal() const {
  const std::string why = refusal_of(*memories_.front(), *peers_.front());
  return why.empty() ? why : fmt::format("{} is refused: {}", path_.call, why);
}

// The kernel writes on behalf of the peer, on the core where the peer sleeps: the lines are then in
// the same caches as if the peer had written them.
void PathProbe::write_anew(std::size_t who, std::size_t bytes, std::uint32_t round) const {
  const std::span<std::byte> source = sources_[who].bytes().first(bytes);
  vary(source, round);
  const Blocks blocks(bytes);
  for (std::size_t reader = 0; reader < readers_; ++reader) {
    if (writers_[reader] != who) continue;
    for (std::size_t i = 0; i < blocks.count; ++i) {
      write_to_peer(*memories_[reader], *peers_[reader], blocks.offset(i), source);
    }
  }
}

Samples PathProbe::time(std::size_t bytes, const Extent& extent, const Budget& budget) {
  const Blocks blocks(bytes);
  std::uint32_t rounds_done = 0;
  const auto prepare = [&](std::size_t who, std::uint32_t round) { write_anew(who, bytes, round); };
  const auto work = [&](std::size_t who, std::uint32_t round) {
    for (std::size_t i = 0; i < blocks.count; ++i) {
      read_from_peer(*memories_[who], *peers_[who], targets_[who].bytes().first(bytes),
                     blocks.offset(i));
    }
    if (who == 0) rounds_done = round;
  };
  Samples samples =
      time_rounds(crew_, members_, {readers_, blocks.count, prepare, work}, extent, budget);
  check_arrival(rounds_done);
  return samples;
}

// Reports data that did not arrive instead of a meaningless time.
void PathProbe::check_arrival(std::uint32_t round) const {
  for (const memory::PageBuffer& target : targets_) {
    std::uint32_t seen = 0;
    std::memcpy(&seen, target.data(), sizeof seen);
    if (seen != round) throw FailureError(fmt::format("{} returned old data", path_.call));
  }
}

}  // namespace huddle::calibrate
