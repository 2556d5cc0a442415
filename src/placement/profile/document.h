// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// All ranks' parts as one file, which `huddle map` reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::profile {

// What one rank of the world sent to another.
enum class FlowKind : std::int32_t {
  point_to_point,
  one_sided,
  collective,  // logical: what the operation means, and not what the MPI sends for it
};

// To processes that are no ranks of this world: spawned ones, other programs.
inline constexpr std::int32_t outside_world = -1;

// Ranks are those of the world, whatever communicator the program named them in.
struct Flow {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t phase = 0;  // as MPI_Pcontrol numbered it
  FlowKind kind = FlowKind::point_to_point;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;

  bool operator==(const Flow&) const = default;
};

// What MPI calls the default level of detail: where a program is that never called MPI_Pcontrol.
inline constexpr std::int32_t first_phase = 1;

// One rank's part of a profile: a file that is mapped into the rank while it counts. The kernel
// keeps what was counted, however the rank ends.
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

struct Profile {
  int ranks = 0;
  std::vector<std::string> hosts;  // by rank; empty where that rank's part is missing
  std::vector<Flow> flows;         // in order; the same pair once for each phase and kind
  std::vector<int> missing;        // ranks of which nothing is known
  std::vector<int> unfinished;     // ranks that ended before MPI_Finalize
  std::uint64_t left_out = 0;      // calls of collectives that stand for too many pairs
  int jobs = 0;                    // how many programs were started; this is the one that sent most

  bool is_whole() const { return missing.empty() && unfinished.empty(); }
};

// pre: `parts` stand as they began. Spawned processes are no ranks of the job. No parts: no ranks.
Profile assembled(const std::vector<Part>& parts);

// huddle-comm, version 1. Its "entries" are what was sent point to point and one-sided, in all
// phases; collectives stand apart.
std::string document_text(const Profile& profile);

struct Total {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::size_t pairs = 0;  // that sent anything
};
Total total_of(const Profile& profile, bool collectives);

}  // namespace huddle::profile
