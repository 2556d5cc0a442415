// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/copy_choice.h"

namespace huddle::node {

using machine::HandoffKind;
using memory::CopyKernel;

HandoffKind ring_kind(CopyKernel kernel) {
  switch (kernel) {
    case CopyKernel::plain:
      return HandoffKind::ring;
    case CopyKernel::rep_movsb:
      return HandoffKind::ring_rep_movsb;
    case CopyKernel::nontemporal:
      return HandoffKind::ring_nontemporal;
    case CopyKernel::prefetch_write:
      return HandoffKind::ring_prefetch_write;
  }
  return HandoffKind::ring;
}

double ring_ns(const machine::CostModel& model, CopyKernel kernel, double bytes, int from, int to) {
  return model.handoff_ns(bytes, from, to, ring_kind(kernel));
}

CopyKernel copy_kernel_for(const machine::CostModel& model, double bytes, int from, int to) {
  CopyKernel best = CopyKernel::plain;
  double best_ns = ring_ns(model, best, bytes, from, to);
  for (const CopyKernel kernel : memory::copy_kernels) {
    const double ns = ring_ns(model, kernel, bytes, from, to);
    if (!memory::is_native(kernel) || ns >= best_ns) continue;
    best = kernel;
    best_ns = ns;
  }
  return best;
}

double ring_ns(const machine::CostModel& model, double bytes, int from, int to) {
  return ring_ns(model, copy_kernel_for(model, bytes, from, to), bytes, from, to);
}

}  // namespace huddle::node
