// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The waiting strategy of a rank: it spins, yields its core or sleeps, depending on which other
// threads need the core. While it waits, it calls progress callbacks, such as the MPI's, and checks
// that its peers are alive.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/context/sequence.h"

namespace huddle::context {

// Set when a team is created.
struct WaitingSettings {
  // More processes than hardware threads: by spinning, a rank may delay the one that it waits for.
  bool oversubscribed = false;
  // This rank is bound to a hardware thread that no other rank of the team may use. If another
  // thread competes for it, this rank does not wait for that thread.
  bool has_exclusive_core = false;
  // Time to go to sleep and be woken up.
  double wake_ns = 5000;
};

// A waiting rank calls this about once a microsecond, less often if a call takes long. May be
// empty.
using ProgressCallback = std::function<void()>;
// Throws PeerLost if a rank of the team has died. A waiting rank calls this several times a second.
using PeerCheck = std::function<void()>;
// Returns whether that rank has died or left the team.
using PeerGone = std::function<bool(int rank)>;

// The waiting strategy of one rank. It adapts to how often other threads compete for the core, and
// for how long they keep it. Not thread-safe.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const WaitingSettings& settings, ProgressCallback progress, PeerCheck check_peers,
          PeerGone is_gone = nullptr);

  double wake_ns() const { return settings_.wake_ns; }

  // The stamp of the collective call that this rank is in.
  CallStamp stamp() const { return stamp_; }
  void set_stamp(CallStamp stamp) { stamp_ = stamp; }

  // Number of loads of a flag before a rank spins with a Wait, yields or sleeps. They take about a
  // microsecond, within which data that peers have just sent arrives. Only one if the awaited rank
  // may need this core, because each further load delays that rank.
  int quick_looks() const { return settings_.oversubscribed ? 1 : 50; }

  // Time that a wait spins before it yields the core: 0 if the awaited rank may need this core;
  // unlimited if no other thread wants the core; otherwise the time for which another thread, which
  // may belong to another program, would keep the core. If the awaited rank runs, its data arrives
  // sooner.
  double spin_ns() const;

  bool has_progress() const { return progress_ != nullptr || own_ != nullptr; }
  // Registers a second progress callback, which advances pending work of this rank. Null
  // unregisters it.
  void set_pending_work(ProgressCallback own) { own_ = std::move(own); }
  // Calls the progress callbacks and returns the time afterwards. Requires: has_progress().
  std::int64_t call_progress(std::int64_t now_ns);
  // Earliest time of the next progress call. The delay grows with the duration of the last call.
  std::int64_t no_progress_before_ns() const { return no_progress_before_ns_; }
  void check_peers() const {
    if (check_peers_) check_peers_();
    if (further_check_) further_check_();
  }
  // Registers a check that follows the check of the peers.
  void set_further_check(PeerCheck check) { further_check_ = std::move(check); }
  bool is_gone(int rank) const { return is_gone_ && is_gone_(rank); }

  // Call while spinning. Involuntary context switches show whether other threads want this core.
  void detect_competition();
  // Records the duration of a yield. Many short yields in a row show that the core is unshared
  // again.
  void record_yield(double ns);
  // Records the duration of the first yield of a wait, which estimates the cost of yielding.
  void record_first_yield(double ns);

 private:
  CallStamp stamp_;
  WaitingSettings settings_;
  ProgressCallback progress_;
  ProgressCallback own_;
  PeerCheck check_peers_;
  PeerCheck further_check_;
  PeerGone is_gone_;
  std::int64_t no_progress_before_ns_ = 0;
  bool company_ = false;  // other threads want this core, as far as observed
  std::int64_t switches_ =
      -1;                   // involuntary context switches of this thread so far; -1: not yet read
  int alone_in_a_row_ = 0;  // consecutive yields that found no other thread
  double others_ns_ = 0;    // average time that other threads ran after a yield
};

// One wait. Created if the condition does not hold after quick_looks() loads.
class Wait {
 public:
  explicit Wait(Waiting& waiting);

  // Call between two loads of the flag: spins, yields or sleeps for a short time, and calls the
  // callbacks that are due. Throws what they throw.
  void spend();

 private:
  enum class Way : std::uint8_t { spin, yield, sleep };

  void spin();
  void yield();
  void sleep();
  void call_others();

  Waiting& waiting_;
  Way way_;
  std::int64_t start_ns_;
  std::int64_t now_ns_;
  std::int64_t next_progress_ns_;
  std::int64_t next_check_ns_;
  std::int64_t next_look_ns_;
  std::int64_t sleep_ns_;
  bool has_yielded_ = false;
};

}  // namespace huddle::context
