// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/copy_choice.h"

#include <algorithm>

namespace huddle::node {

using machine::HandoffKind;
using memory::CopyKernel;
using memory::Lines;
using memory::LinesAllowed;
using memory::Passing;

HandoffKind ring_kind(const Passing& passing) {
  switch (passing.in) {
    case CopyKernel::plain:
      return passing.lines == Lines::taken ? HandoffKind::ring_taken : HandoffKind::ring;
    case CopyKernel::rep_movsb:
      return HandoffKind::ring_rep_movsb;
    case CopyKernel::nontemporal:
      return HandoffKind::ring_nontemporal;
    case CopyKernel::prefetch_write:
      return HandoffKind::ring_prefetch_write;
  }
  return HandoffKind::ring;
}

double ring_ns(const machine::CostModel& model, const Passing& passing, double bytes, int from,
               int to) {
  return model.handoff_ns(bytes, from, to, ring_kind(passing));
}

bool is_possible(const Passing& passing, LinesAllowed allowed) {
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), passing.lines) != allowed.end();
  return memory::is_native(passing.in) && is_allowed;
}

Passing passing_for(const machine::CostModel& model, double bytes, int from, int to,
                    LinesAllowed allowed) {
  Passing best;
  double best_ns = ring_ns(model, best, bytes, from, to);
  for (const Passing& passing : memory::passings) {
    const double ns = ring_ns(model, passing, bytes, from, to);
    if (!is_possible(passing, allowed) || ns >= best_ns) continue;
    best = passing;
    best_ns = ns;
  }
  return best;
}

}  // namespace huddle::node
