// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Team set-up in steps that all ranks make even if one fails, so that all have a team or all throw.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/file.h"
#include "runtime/team/peer.h"
#include "runtime/team/peers.h"
#include "runtime/team/socket_bootstrap.h"

namespace huddle::team {

// If the system does not allow opening a process's arena through /proc, its owner sends the file
// descriptors over Unix datagram sockets with abstract names, which vanish with the sockets. The
// kernel authenticates the sender's user.

// The socket at which a rank receives descriptors, as long as this object lives.
class DescriptorSocket {
 public:
  using Name = std::array<char, 40>;  // random

  DescriptorSocket();  // throws FailureError

  const FileDescriptor& socket() const { return socket_; }
  // Returns whether this process can reach a socket of that name.
  bool finds(const Name& other) const;
  // Returns a descriptor of this process, to be sent. The constructor opens it, because opening may
  // fail.
  const FileDescriptor& process() const { return process_; }
  const Name& name() const { return name_; }

 private:
  Name name_{};
  FileDescriptor process_;
  FileDescriptor socket_;
  FileDescriptor probe_;  // used by finds()
};

struct ReceivedDescriptors {
  FileDescriptor arena;
  FileDescriptor process;
};

// One rank's part in an exchange.
struct ExchangeTask {
  int rank = 0;
  int arena = -1;  // this rank's, to be sent
  std::span<const PeerAddress> addresses;
  std::span<const DescriptorSocket::Name> names;
  std::vector<int> send_to;
  std::vector<int> receive_from;
};

// Sends this rank's descriptors and passes the descriptors of each peer to `received` when they
// arrive. All ranks do this concurrently. An error does not stop the exchange, so that the other
// ranks do not wait; it is thrown as FailureError at the end.
void exchange_descriptors(
    const DescriptorSocket& socket, ExchangeTask task, Deadline deadline,
    const std::function<void(int rank, ReceivedDescriptors descriptors)>& received);

class GroupConfiguration;

// Sets up one team. Keeps references to the arguments of its constructors.
class TeamSetUp {
 public:
  TeamSetUp(Peers& peers, const Bootstrap& bootstrap);
  // For a group whose ranks all know its configuration and peers: run() then makes only one
  // allgather. `decisions` is the digest of the decisions that the team is to use.
  TeamSetUp(Peers& peers, const Bootstrap& bootstrap, const GroupConfiguration& group,
            std::uint64_t decisions);
  // Frees what was allocated for the team, unless the team was set up.
  ~TeamSetUp();
  TeamSetUp(const TeamSetUp&) = delete;
  TeamSetUp& operator=(const TeamSetUp&) = delete;

  // Allocates all memory that the later steps need. If a rank failed after the last step, the
  // others would have a team and wait for it forever. run() calls this if the caller has not, and
  // then reports a failure to the other ranks.
  void allocate_memory();
  std::unique_ptr<Members> run(const Peers::AllocatePiece& bring);
  // If the group's configuration is known: call instead of run() on a rank that has no memory for a
  // team. The other ranks' run() then throws FailureError.
  static void fail_set_up(const Bootstrap& bootstrap);
  // Returns whether all ranks passed the same digest of decisions to the constructor. Valid after
  // run().
  bool have_same_decisions() const { return same_decisions_; }
  // Moves out the peers, by rank, after run(). Empty if the constructor received the group's
  // configuration.
  std::vector<std::shared_ptr<Peer>> take_reached() { return std::move(reached_); }

 private:
  // The name of a rank's DescriptorSocket.
  struct SocketName {
    RankError rank_error;
    DescriptorSocket::Name name{};
  };

  // The data that a rank publishes if the group's configuration is known.
  struct Offer {
    RankError rank_error;  // if set, no other field is valid
    memory::Piece piece;
    PresenceTable::Entry presence;
    std::uint64_t decisions = 0;  // their digest
  };

  std::unique_ptr<Members> run_in_known_group(const Peers::AllocatePiece& bring);
  void fill_offer(const Peers::AllocatePiece& bring);
  void fill_address(const Peers::AllocatePiece& bring);
  void check_addresses() const;
  void reach_all();
  void reach(std::size_t rank);
  void exchange();
  void receive_needed(const DescriptorSocket& socket);

  // A rank's report after it has tried to open the peers' arenas: its RankError, and a byte per
  // rank that is nonzero if it needs that rank's descriptors.
  std::size_t report_bytes() const { return sizeof(RankError) + ranks_; }
  RankError trouble_of(std::size_t rank) const;
  bool needs(std::size_t who, std::size_t whose) const {
    return reports_[who * report_bytes() + sizeof(RankError) + whose] != std::byte{0};
  }
  bool anybody_needs_anything() const;

  Peers& peers_;
  const Bootstrap& bootstrap_;
  std::size_t rank_;
  std::size_t ranks_;
  const GroupConfiguration* group_ = nullptr;  // null unless its configuration is known
  std::uint64_t decisions_ = 0;                // their digest
  bool same_decisions_ = false;
  PeerAddress address_;
  bool is_done_ = false;
  std::vector<PeerAddress> addresses_;
  // The memory of the members below is allocated before this rank reports that it can continue.
  std::unique_ptr<Members> members_;
  std::vector<std::shared_ptr<Peer>> reached_;
  std::vector<std::byte> report_;
  std::vector<std::byte> reports_;  // of all ranks
  std::vector<SocketName> socket_names_;
  std::vector<RankError> errors_;
  bool has_memory_ = false;
};

}  // namespace huddle::team
