// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/copy_choice.h"

namespace huddle::node {

using machine::HandoffKind;
using memory::CopyKernel;
using memory::Passing;

HandoffKind ring_kind(const Passing& passing) {
  switch (passing.in) {
    case CopyKernel::plain:
      return passing.taken ? HandoffKind::ring_taken : HandoffKind::ring;
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

bool is_possible(const Passing& passing, bool may_take) {
  return memory::is_native(passing.in) && (may_take || !passing.taken);
}

Passing passing_for(const machine::CostModel& model, double bytes, int from, int to,
                    bool may_take) {
  Passing best;
  double best_ns = ring_ns(model, best, bytes, from, to);
  for (const Passing& passing : memory::passings) {
    const double ns = ring_ns(model, passing, bytes, from, to);
    if (!is_possible(passing, may_take) || ns >= best_ns) continue;
    best = passing;
    best_ns = ns;
  }
  return best;
}

}  // namespace huddle::node
