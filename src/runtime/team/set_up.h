// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a team is made, step by step: whatever fails, every rank does the same steps.
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

// Where the system lets nobody open a process's arena by /proc, its owner sends the descriptors,
// over datagram sockets whose names end with them. The kernel vouches for the sender's user.

// Where a rank can be sent descriptors to, for as long as this lives.
class DescriptorSocket {
 public:
  using Name = std::array<char, 40>;  // random

  DescriptorSocket();  // throws FailureError

  const FileDescriptor& socket() const { return socket_; }
  // Whether a socket of that name is to be found from here.
  bool finds(const Name& other) const;
  // A pidfd of this process, to be sent: all that may fail for want of descriptors is done here.
  const FileDescriptor& process() const { return process_; }
  const Name& name() const { return name_; }

 private:
  Name name_{};
  FileDescriptor process_;
  FileDescriptor socket_;
  FileDescriptor probe_;  // to look for others with
};

struct Parcel {
  FileDescriptor arena;
  FileDescriptor process;
};

// What one rank has to do in an exchange.
struct ExchangeTask {
  int rank = 0;
  int arena = -1;  // this rank's, to be sent
  std::span<const BusinessCard> cards;
  std::span<const DescriptorSocket::Name> names;
  std::vector<int> send_to;
  std::vector<int> receive_from;
};

// Sends this rank's descriptors and hands every parcel to `received`. All ranks do it at once,
// and none waits for another's turn. What goes wrong here is told afterwards, so that the others
// are not kept waiting; throws FailureError then.
void exchange_descriptors(const DescriptorSocket& door, ExchangeTask task, Deadline deadline,
                          const std::function<void(int rank, Parcel parcel)>& received);

class GroupConfiguration;

class Joining {
 public:
  Joining(Peers& peers, const Bootstrap& bootstrap);
  // Where all members have reached each other before, and know that they all know it, run() is one
  // allgather. Keeps references. decisions: the digest of those that the team is to use.
  Joining(Peers& peers, const Bootstrap& bootstrap, const GroupConfiguration& group,
          std::uint64_t decisions);
  // What has been taken for the team is given back, unless the team has been made.
  ~Joining();
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;

  // All that the steps to come need: a rank that failed after the last of them would be waited for
  // without end, since the others have a team then. Where it is taken before run(), that takes none
  // that it does not tell the others of.
  void take_memory();
  std::unique_ptr<Members> run(const Peers::Bring& bring);
  // What a rank says in a known group that has no memory for a team: all throw.
  static void decline(const Bootstrap& bootstrap);
  // Of a run in a known group: whether all members brought decisions of the same digest.
  bool have_same_decisions() const { return same_decisions_; }
  // Who was reached, by rank, once the team is made; nobody in a known group.
  std::vector<std::shared_ptr<Peer>> take_reached() { return std::move(reached_); }

 private:
  // Where a rank can be sent descriptors to.
  struct Address {
    Trouble trouble;
    DescriptorSocket::Name name{};
  };

  // What a rank tells of itself where the rest is known.
  struct Offer {
    Trouble trouble;  // if there is any, nothing of the rest holds
    memory::Piece piece;
    PresenceTable::Entry presence;
    std::uint64_t decisions = 0;  // their digest
  };

  std::unique_ptr<Members> run_in_known_group(const Peers::Bring& bring);
  void fill_offer(const Peers::Bring& bring);
  void fill_card(const Peers::Bring& bring);
  void check_cards() const;
  void reach_all();
  void reach(std::size_t rank);
  void exchange();
  void receive_needed(const DescriptorSocket& door);

  // What a rank tells of how it reached the others: its trouble, and a byte for each rank, whether
  // it has to be sent that one's descriptors.
  std::size_t report_bytes() const { return sizeof(Trouble) + ranks_; }
  Trouble trouble_of(std::size_t rank) const;
  bool needs(std::size_t who, std::size_t whose) const {
    return reports_[who * report_bytes() + sizeof(Trouble) + whose] != std::byte{0};
  }
  bool anybody_needs_anything() const;

  Peers& peers_;
  const Bootstrap& bootstrap_;
  std::size_t rank_;
  std::size_t ranks_;
  const GroupConfiguration* group_ = nullptr;  // known ones
  std::uint64_t decisions_ = 0;                // their digest
  bool same_decisions_ = false;
  BusinessCard card_;
  bool is_done_ = false;
  std::vector<BusinessCard> cards_;
  // Taken before anybody is told that this rank can go on.
  std::unique_ptr<Members> members_;
  std::vector<std::shared_ptr<Peer>> reached_;
  std::vector<std::byte> report_;
  std::vector<std::byte> reports_;  // everybody's
  std::vector<Address> addresses_;
  std::vector<Trouble> troubles_;
  bool has_memory_ = false;
};

}  // namespace huddle::team
