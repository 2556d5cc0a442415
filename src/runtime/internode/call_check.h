// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Detects ranks on different nodes whose calls differ. Such ranks may run different schedules and
// wait for messages that no rank sends. The messages of a call carry a mark that depends on its
// arguments, so that no rank receives data of another call. Ranks that wait long find out why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/internode/messages.h"
#include "runtime/internode/node_map.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team_memory.h"

namespace huddle::internode {

// Not thread-safe. Sends messages only if a rank waits for longer than 0.3 s, or after an error.
class CallCheck {
 public:
  // The least mark of a call. Messages with lower marks other than 0 may stay unread.
  static constexpr RankWire::Mark first_call_mark = 3;

  // Keeps references. Does nothing if the wire has too few marks.
  CallCheck(RankWire& wire, const NodeMap& map, int rank);

  // Call at the beginning of each call, before its messages. Throws CallsDiffer if another rank has
  // reported an error. It looks for reports several times a second, because a root that only sends
  // waits for no rank.
  void begin(const team::CallArguments& arguments);
  // Counts a call that is made without this wire.
  void skip() { ++number_; }
  // Call several times a second while the rank waits. Throws CallsDiffer if a peer makes another
  // call, or if another rank has reported an error.
  void check();
  // Reports an error to the ranks of other nodes, unless they know it. It ends their calls.
  void report(std::string_view why, bool are_sizes) noexcept;
  // Cancels the receives of a call that has failed, so that no message arrives in its buffers
  // later.
  void cancel() noexcept;

 private:
  enum class Kind : std::uint8_t { error, question };
  // A message to a rank: about an error, or the question whether the rank is in the same call.
  struct Notice {
    Kind kind = Kind::error;
    bool are_sizes = false;
    std::uint64_t number = 0;
    team::CallArguments arguments;
    team::RankError why;
  };

  bool is_available() const;
  RankWire::Mark mark() const;
  std::size_t kinds() const;
  std::size_t sizes_per_kind() const;
  void read_notices();
  void answer_questions();
  void look_for_other_calls(int peer);
  void ask(int peer);
  void post(int peer, const Notice& notice);

  RankWire& wire_;
  const NodeMap& map_;
  int rank_;
  std::uint64_t number_ = 0;  // of calls so far
  team::CallArguments arguments_;
  std::int64_t next_reading_ns_ = 0;
  int checks_ = 0;          // in this call
  std::vector<int> asked_;  // peers that got a question in this call
  std::map<int, Notice>
      questions_;  // by rank: questions about calls that this rank has yet to make
  bool is_reported_ = false;
};

}  // namespace huddle::internode
