// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How a team is made, step by step: whatever fails, every rank does the same steps.
#pragma once

#include <memory>
#include <vector>

#include "team/card.h"
#include "team/descriptor_exchange.h"
#include "team/peer.h"
#include "team/peers.h"

namespace huddle::team {

class Joining {
 public:
  Joining(Peers& peers, const Bootstrap& bootstrap);
  // What has been taken for the team is given back, unless the team has been made.
  ~Joining();
  Joining(const Joining&) = delete;
  Joining& operator=(const Joining&) = delete;

  std::unique_ptr<Members> run(const Peers::Bring& bring);

 private:
  void fill_card(const Peers::Bring& bring);
  void check_cards() const;
  void reach_all();
  void reach(std::size_t rank);
  void exchange();
  void receive_needed(const DescriptorSocket& door,
                      const std::vector<DescriptorSocket::Name>& names);
  bool needs(std::size_t who, std::size_t whose) const { return needs_[who * ranks_ + whose] != 0; }

  Peers& peers_;
  const Bootstrap& bootstrap_;
  std::size_t rank_;
  std::size_t ranks_;
  Card card_;
  bool is_done_ = false;
  std::vector<Card> cards_;
  std::vector<std::shared_ptr<Peer>> reached_;
  std::vector<char> needs_;  // a row for each rank: whose descriptors it has to be sent
};

}  // namespace huddle::team
