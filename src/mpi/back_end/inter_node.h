// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Carries huddle's messages between the nodes of a job over one communicator of its own, which it
// creates after MPI_Init if all ranks of the job are known to run huddle. Teams use different tags.
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
  // Only ranks with the same `kind` communicate.
  InterNode(const UnderlyingMpi& real, const Options& options, Presence& presence,
            std::string kind);
  ~InterNode();
  InterNode(const InterNode&) = delete;
  InterNode& operator=(const InterNode&) = delete;

  // Call before MPI_Init. `has_threads` (MPI_THREAD_MULTIPLE) disables inter-node teams, which are
  // not tested with threads.
  void announce_presence(bool has_threads);
  // Call before MPI_Session_init, which may initialize the MPI: values that are published later may
  // then not be distributed.
  void note_session() { had_session_ = true; }
  // Call after MPI_Init, on all ranks that run huddle.
  void begin(Comm world);
  // Call before MPI_Finalize.
  // Requires: no messages are pending.
  void end();

  // Returns, equally on all ranks, whether all run huddle and the communicator exists.
  bool is_open() const { return is_open_; }

  // Returns a tag above all tags in use on this rank, or 0 if none is left. A new wire uses the
  // maximum over its ranks.
  int free_tag() const;
  // Creates a wire, which sends messages between ranks and owns `tag` until it is destroyed.
  // `peers` are ranks in MPI_COMM_WORLD, in the order of their numbers on the wire.
  // Throws FailureError if the tag is in use, because threads that create wires at the same time
  // may choose the same one.
  // The wire throws PeerLost if the MPI cannot deliver a message, SizesDiffer if the size of a
  // message is not the one that its receiver expects.
  std::unique_ptr<internode::RankWire> wire(std::span<const int> peers, int tag);
  // Creates a wire for ranks that have not agreed on a tag yet. All such wires share one tag, so
  // messages are matched in the order of the calls.
  std::unique_ptr<schedules::Wire> set_up_wire(std::span<const int> peers);

  // Returns the name and version of the MPI, as in machine files.
  std::string mpi_title() const;

  internode::Traffic& traffic() { return traffic_; }
  // Returns a line about the messages that this rank sent; empty if it sent none.
  std::string report() const;
  void note_refusal(int code);

 private:
  class Messages;
  class MpiWire;

  bool is_asked_for(bool has_threads) const;
  bool are_found_here(int ranks);
  bool have_all_told(int ranks);
  void count_marks(Comm world);
  bool are_all_here(int ranks);
  void release_tag(int tag);
  bool is_truncation(int status);

  const UnderlyingMpi& real_;
  const Options& options_;
  Presence& presence_;
  std::string kind_;
  std::unique_ptr<KeySpace> key_space_;  // null: values cannot be exchanged
  bool is_wanted_ = false;
  bool had_session_ = false;
  bool has_told_ = false;
  Comm comm_{};
  std::uint32_t marks_ = 1;  // that fit into a tag besides the number of a team
  bool is_open_ = false;
  mutable std::mutex mutex_;  // guards the member below
  std::set<int> tags_;        // tags in use

  internode::Traffic traffic_;
  // Recorded by the error handler, because MPICH 5 returns success if there is a user-defined one.
  std::atomic<int> refusal_{success};
};

}  // namespace huddle::mpi
