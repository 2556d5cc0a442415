// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The parts of a profile that the ranks write, and the file that `huddle profile` assembles from
// them for `huddle map`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::profile {

// Kind of the traffic that is counted between two ranks.
enum class FlowKind : std::int32_t {
  point_to_point,
  one_sided,
  // logical traffic: what the operation implies, not the messages that the MPI sends for it
  collective,
};

// The rank of a peer outside MPI_COMM_WORLD: in a spawned process or another program.
inline constexpr std::int32_t outside_world = -1;

// Traffic from one rank to another. Ranks are those of MPI_COMM_WORLD for all communicators.
struct Flow {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t phase = 0;  // the level that was passed to MPI_Pcontrol
  FlowKind kind = FlowKind::point_to_point;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;

  bool operator==(const Flow&) const = default;
};

// The phase of a program that has not called MPI_Pcontrol, which is MPI's default level.
inline constexpr std::int32_t first_phase = 1;

inline constexpr std::size_t most_host_letters = 255;

// Header of a part, which is one rank's share of a profile; the flows follow it. The part is a file
// that is mapped into the rank while it counts, so that the counts survive if the rank is killed.
struct PartHeader {
  std::array<char, 8> magic{};
  std::int64_t begun_ns = 0;  // nanoseconds since 1970
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::int32_t has_ended = 0;  // the rank reached MPI_Finalize
  std::int32_t was_spawned = 0;
  std::uint64_t flows = 0;
  // collective calls that are not counted because they have too many pairs
  std::uint64_t left_out = 0;
  std::array<char, most_host_letters + 1> host{};
};

// Identity of the rank that wrote a part.
struct Who {
  int rank = 0;
  int ranks = 0;
  // nanoseconds since 1970; distinguishes programs that ran one after the other
  std::int64_t begun_ns = 0;
  bool was_spawned = false;
  std::string host;
};

// The part that this process writes.
class OwnPart {
 public:
  // Creates a file in `folder`, or uses private memory if that fails or `folder` is empty. Throws
  // FailureError if there is no memory either.
  OwnPart(const std::string& folder, const Who& who);
  ~OwnPart();
  OwnPart(const OwnPart&) = delete;
  OwnPart& operator=(const OwnPart&) = delete;

  // Appends a copy of `flow` and returns a pointer to it, which is valid as long as this object
  // exists. Returns null if there is no memory.
  Flow* add(const Flow& flow);
  void leave_out(std::uint64_t collectives) { header().left_out += collectives; }
  // Marks the part as complete and flushes the file. Counting must have stopped.
  void end();
  bool is_in_file() const { return file_ >= 0; }
  // Returns the part in the format of its file.
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

// Parses a part. Returns nothing if the bytes are not a valid part.
std::optional<Part> part_from(std::string_view bytes);

// Reads all parts in `folder`, ordered by start time and rank. Ignores other files and duplicates.
std::vector<Part> read_parts(const std::string& folder);

struct Profile {
  int ranks = 0;
  std::vector<std::string> hosts;  // by rank; empty if that rank's part is missing
  std::vector<Flow> flows;         // sorted; at most one entry per pair, phase and kind
  std::vector<int> missing;        // ranks that have left no part
  std::vector<int> unfinished;     // ranks that ended before MPI_Finalize
  // collective calls that are not counted because they have too many pairs
  std::uint64_t left_out = 0;
  int jobs = 0;  // number of programs that ran; this profile is of the one that sent the most bytes

  bool is_whole() const { return missing.empty() && unfinished.empty(); }
};

// Combines the parts of one program. Leaves out spawned processes. The result has no ranks if there
// are no parts.
// Requires: `parts` is in the order of read_parts().
Profile assembled(const std::vector<Part>& parts);

// Returns the profile in the format huddle-comm, version 1. "entries" contains the point-to-point
// and one-sided traffic of all phases; collectives are listed separately.
std::string document_text(const Profile& profile);

struct Total {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::size_t pairs = 0;  // number of pairs with traffic
};
Total total_of(const Profile& profile, bool collectives);

}  // namespace huddle::profile
