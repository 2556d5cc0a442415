// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the choices of a team follow from: the places of its members, and what was found not to work
// between them. What more than one rank reckons with is reckoned in whole numbers, and shown to be
// the same on all of them; prices are for the rank that chooses.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "team/places.h"

namespace huddle::team {

class Outlook {
 public:
  // pre: the places' queues are those that all ranks have agreed on.
  explicit Outlook(std::shared_ptr<Places> places)
      : places_(std::move(places)), provision_(places_->provision()) {}
  Outlook(const Outlook&) = delete;
  Outlook& operator=(const Outlook&) = delete;

  const std::shared_ptr<Places>& places() const { return places_; }
  const std::vector<Whereabouts>& whereabouts() const { return places_->whereabouts(); }
  const machine::CostModel& model() const { return places_->model(); }
  const node::Seats& seats() const { return places_->seats(); }
  const node::Association& association() const { return places_->association(); }
  bool has_one_sided_fence() const { return places_->has_one_sided_fence(); }
  const select::Provision& provision() const { return provision_; }

  // From now on no choice follows from the ranks' reading each other's memory, for that reason; the
  // words may be fewer where there is no memory for them.
  void refuse_direct(std::string_view why) noexcept;
  // The same of their mapping each other's heaps.
  void refuse_heap(std::string_view why) noexcept;

 private:
  std::shared_ptr<Places> places_;
  select::Provision provision_;
};

}  // namespace huddle::team
