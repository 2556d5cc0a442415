// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where the system lets nobody open a process's arena by /proc, its owner sends the descriptors,
// over datagram sockets whose names end with them. The kernel vouches for the sender's user.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "common/file_descriptor.h"
#include "runtime/team/business_card.h"
#include "runtime/team/stream.h"

namespace huddle::team {

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

}  // namespace huddle::team
