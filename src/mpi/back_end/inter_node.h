// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What carries huddle's messages between the nodes of a job: one communicator of huddle's own, made
// as MPI begins, if all ranks of the job are known to have huddle; teams differ by tags.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "mpi/back_end/underlying_mpi.h"
#include "mpi/key_space.h"
#include "mpi/options.h"
#include "mpi/presence.h"
#include "runtime/internode/internode_team.h"
#include "runtime/internode/messages.h"
#include "runtime/schedules/wire.h"

namespace huddle::mpi {

class InterNode {
 public:
  // kind: what ranks need to have in common, so that they answer each other.
  InterNode(const UnderlyingMpi& real, const Options& options, RollCall& roll_call,
            std::string kind);
  ~InterNode();
  InterNode(const InterNode&) = delete;
  InterNode& operator=(const InterNode&) = delete;

  // Before the world comes up. Where threads make calls at once there is none: not shown to work.
  void sign_in(bool has_threads);
  // A session may have brought the MPI up: what is told afterwards may not arrive everywhere.
  void note_session() { had_session_ = true; }
  // Once it is there, on all of its ranks that have huddle.
  void begin(Comm world);
  // Before it goes. pre: nobody sends.
  void end();

  // Whether all ranks of the job have huddle, and it has a communicator: the same on all of them.
  bool is_open() const { return is_open_; }

  // Higher than those of all wires of this rank: for a new one the highest of its ranks' is taken.
  // 0: none is left.
  int free_tag() const;
  // peers: ranks of the world, by the number that the wire is to know them by. It has the tag until
  // it ends; throws FailureError where another one has it: threads that make wires at the same time
  // may come upon the same. It throws PeerLost where the MPI does not carry a message, SizesDiffer
  // where one is larger than its receiver expects.
  std::unique_ptr<internode::RankWire> wire(std::span<const int> peers, int tag);
  // The same for ranks that have no tag in common yet. What they send to each other by it keeps the
  // order of their communicators' calls.
  std::unique_ptr<schedules::Wire> joining_wire(std::span<const int> peers);

  // Of the MPI that carries them, as machine files have it.
  std::string mpi_title() const;

  internode::Traffic& traffic() { return traffic_; }
  // What this rank has sent, as a line for people; empty where it has sent nothing.
  std::string report() const;
  void note_refusal(int code);

 private:
  class Messages;
  class MpiWire;

  bool is_asked_for(bool has_threads) const;
  bool are_found_here(int ranks);
  bool have_all_told(int ranks);
  bool are_all_here(int ranks);
  void give_back(int tag);
  bool is_truncation(int status);

  const UnderlyingMpi& real_;
  const Options& options_;
  RollCall& roll_call_;
  std::string kind_;
  std::unique_ptr<KeySpace> key_space_;  // null: nobody can tell
  bool is_wanted_ = false;
  bool had_session_ = false;
  bool has_told_ = false;
  Comm comm_{};
  bool is_open_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::set<int> tags_;        // in use

  internode::Traffic traffic_;
  // Behind a handler of the program's own, MPICH 5 says that all went well: what the handler heard.
  std::atomic<int> refusal_{success};
};

}  // namespace huddle::mpi
