// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Algorithms that somebody wants run, whatever is predicted to be the cheapest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/forced_choice.h"
#include "runtime/select/operation.h"

namespace huddle::select {

class Forcing {
 public:
  Forcing() = default;  // nothing is forced
  // "bcast:pipelined,allreduce:4K-1M:slices". Throws InputError for what is written otherwise, and
  // for an operation that there is not.
  explicit Forcing(std::string_view text);

  // The name of the algorithm that is to serve such a request, by the first that fits; empty:
  // whichever is the cheapest. It lives as long as this.
  std::string_view algorithm_for(const Request& request) const;

  // What makes it again: equal texts, equal forcing.
  std::string text() const { return text_of(choices_); }

 private:
  std::vector<ForcedChoice> choices_;
};

}  // namespace huddle::select
