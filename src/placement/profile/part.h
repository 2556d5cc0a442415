// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One rank's part of a profile: a file that is mapped into the rank while it counts. The kernel
// keeps what was counted, however the rank ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placement/profile/flow.h"

namespace huddle::profile {

inline constexpr std::size_t most_host_letters = 255;

// What the file begins with; flows follow, one behind the other.
struct PartHeader {
  std::array<char, 8> magic{};
  std::int64_t begun_ns = 0;  // since 1970
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t has_ended = 0;  // it came as far as MPI_Finalize
  std::int32_t was_spawned = 0;
  std::uint64_t flows = 0;
  std::uint64_t left_out = 0;  // collectives that were too large to be spread over pairs
  std::array<char, most_host_letters + 1> host{};
};

// Of whom a part is.
struct Who {
  int rank = 0;
  int ranks = 0;
  std::int64_t begun_ns = 0;  // since 1970: programs that came one after the other are told apart
  bool was_spawned = false;
  std::string host;
};

// The part that this process writes.
class OwnPart {
 public:
  // In a file of its own in `folder`; in memory of this process where that cannot be.
  OwnPart(const std::string& folder, const Who& who);
  ~OwnPart();
  OwnPart(const OwnPart&) = delete;
  OwnPart& operator=(const OwnPart&) = delete;

  // A new one, which stays where it is. Null: there is no memory.
  Flow* add(const Flow& flow);
  void leave_out(std::uint64_t collectives) { header().left_out += collectives; }
  // Nothing is counted any more, and the file is written.
  void end();
  bool is_in_file() const { return file_ >= 0; }
  // As the file has it.
  std::string bytes() const;

 private:
  struct Block {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
  };
  PartHeader& header() const { return *reinterpret_cast<PartHeader*>(blocks_.front().begin); }
  bool grow();

  int file_ = -1;
  std::vector<Block> blocks_;
};

struct Part {
  Who who;
  bool has_ended = false;
  std::uint64_t left_out = 0;
  std::vector<Flow> flows;
};

// Nothing where these bytes are no part.
std::optional<Part> part_from(std::string_view bytes);

// All parts in a folder, as they began.
std::vector<Part> read_parts(const std::string& folder);

}  // namespace huddle::profile
