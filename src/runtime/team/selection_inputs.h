// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the choices of a team follow from: where its members run, and what was found not to work
// between them. What more than one rank reckons with is reckoned in whole numbers, and shown to be
// the same on all of them; prices are for the rank that chooses.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/single_copy/peer_path.h"
#include "runtime/team/group_configuration.h"

namespace huddle::team {

class SelectionInputs {
 public:
  // pre: the group's queues are those that all ranks have agreed on.
  explicit SelectionInputs(std::shared_ptr<GroupConfiguration> group)
      : group_(std::move(group)), resources_(group_->resources()) {}
  SelectionInputs(const SelectionInputs&) = delete;
  SelectionInputs& operator=(const SelectionInputs&) = delete;

  const std::shared_ptr<GroupConfiguration>& group() const { return group_; }
  const std::vector<CpuBinding>& cpu_bindings() const { return group_->cpu_bindings(); }
  const machine::CostModel& model() const { return group_->model(); }
  const node::RankLocality& locality() const { return group_->locality(); }
  const node::ReductionOrder& association() const { return group_->association(); }
  bool has_one_sided_fence() const { return group_->has_one_sided_fence(); }
  const select::TeamResources& resources() const { return resources_; }

  // From now on no choice follows from the ranks' reading each other's memory by that path, for
  // that reason; the words may be fewer where there is no memory for them.
  void refuse_path(single_copy::PathNumber path, std::string_view why) noexcept;
  // The same of their mapping each other's heaps.
  void refuse_heap(std::string_view why) noexcept;

 private:
  std::shared_ptr<GroupConfiguration> group_;
  select::TeamResources resources_;
};

}  // namespace huddle::team
