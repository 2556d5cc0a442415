// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/path_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "runtime/memory/copy_kernels.h"
#include "tools/calibrate/repeat.h"

namespace huddle::calibrate {
namespace {

// A call costs a microsecond whatever its size: some 10 us a sample. No more than what was written
// last, for that lies nearest to whoever has written it, and farthest from the reader: four blocks
// of 64 KiB by one that is written by itself took 5.4 us each and 7.6.
constexpr std::size_t most_calls_a_sample = 16;
constexpr std::size_t bytes_a_sample = 16 * 1024;

// Each call of a sample has a block of its own: what was read once lies in the reader's cache.
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

// A word of every line gets the number of the round.
void vary(std::span<std::byte> data, std::uint32_t round) {
  for (std::size_t at = 0; at + sizeof round <= data.size(); at += memory::line_bytes) {
    std::memcpy(data.data() + at, &round, sizeof round);
  }
}

}  // namespace

PathProbe::PathProbe(Crew& crew, const single_copy::PeerPath& path, std::span<const Pair> pairs,
                     std::size_t most_bytes)
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

// The system writes for the peer, from the core where the peer sleeps: the lines are then where
// they are after the peer has written them itself.
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

// Timing something that does not arrive would be worse than no timing.
void PathProbe::check_arrival(std::uint32_t round) const {
  for (const memory::PageBuffer& target : targets_) {
    std::uint32_t seen = 0;
    std::memcpy(&seen, target.data(), sizeof seen);
    if (seen != round) throw FailureError(fmt::format("{} brought old data", path_.call));
  }
}

}  // namespace huddle::calibrate
