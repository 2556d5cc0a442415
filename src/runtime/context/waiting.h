// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a rank waits: it spins, gives its core away, or sleeps, by who else wants the core; while it
// waits it lets others make progress, and looks whether those that it waits for are still alive.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "runtime/context/sequence.h"

namespace huddle::context {

// What is known when a team is made.
struct WaitingSettings {
  // More processes than processors where this one runs: spinning keeps the awaited one from
  // working.
  bool crowded = false;
  // This rank is bound to a processor that no other rank of the team may use: whoever else wants it
  // is nobody that this rank waits for.
  bool own_processor = false;
  // Falling asleep and being woken.
  double wake_ns = 5000;
};

// Called about once a microsecond by whoever waits, less often where it takes long; may be empty.
using ProgressCallback = std::function<void()>;
// Throws PeerLost where a rank of the team has died. Called several times a second by whoever
// waits.
using PeerCheck = std::function<void()>;
// Whether that rank has died or left the team.
using PeerGone = std::function<bool(int rank)>;

// What one rank knows about waiting; it learns while it waits. For one thread.
class Waiting {
 public:
  Waiting() = default;
  Waiting(const WaitingSettings& settings, ProgressCallback progress, PeerCheck check_peers,
          PeerGone is_gone = nullptr);

  double wake_ns() const { return settings_.wake_ns; }

  // The stamp of the collective call that this rank is in.
  CallStamp stamp() const { return stamp_; }
  void set_stamp(CallStamp stamp) { stamp_ = stamp; }

  // How often a flag is looked at before anything else is thought of: for about a microsecond, in
  // which whatever others have just sent arrives. Where the awaited rank needs this very core,
  // every look more keeps it waiting.
  int quick_looks() const { return settings_.crowded ? 1 : 50; }

  // How long a wait spins before it gives the core away. Not at all where the awaited rank needs
  // this core. To the end where nobody wants it. Where somebody does who may be a stranger, as long
  // as he would keep it: what is awaited from a rank that runs comes sooner than that.
  double spin_ns() const;

  bool has_progress() const { return progress_ != nullptr || own_ != nullptr; }
  // What this rank has under way beside what it waits for: called as the others' progress is, until
  // it is taken back by null.
  void keep_going(ProgressCallback own) { own_ = std::move(own); }
  // Returns what the clock says after it. pre: there is any.
  std::int64_t call_progress(std::int64_t now_ns);
  // When others may have their turn again: the longer they took, the later.
  std::int64_t no_progress_before_ns() const { return no_progress_before_ns_; }
  void check_peers() const {
    if (check_peers_) check_peers_();
  }
  bool is_gone(int rank) const { return is_gone_ && is_gone_(rank); }

  // While it spins: whoever lost the core against its will has company, whatever was thought
  // before.
  void look_for_company();
  // Giving the core away took so long: nobody else wanted it when that was next to nothing.
  void gave_core_away(double ns);
  // So long it took when that was first done in a wait: what it costs to have done it.
  void learn_price(double ns);

 private:
  CallStamp stamp_;
  WaitingSettings settings_;
  ProgressCallback progress_;
  ProgressCallback own_;
  PeerCheck check_peers_;
  PeerGone is_gone_;
  std::int64_t no_progress_before_ns_ = 0;
  bool company_ = false;  // others want this rank's core, as far as it has seen
  std::int64_t switches_ =
      -1;                   // times that this thread has lost its core so far; -1: not looked yet
  int alone_in_a_row_ = 0;  // times that giving the core away found nobody
  double others_ns_ = 0;    // that others had work for when the core was given to them
};

// One wait. Made when the first looks did not see what was wanted.
class Wait {
 public:
  explicit Wait(Waiting& waiting);

  // Between two looks at the flag. May throw what the callbacks throw.
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
