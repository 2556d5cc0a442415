// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/copy_choice.h"

#include <algorithm>
#include <cmath>

namespace huddle::node {

using machine::HandoffKind;
using memory::CopyKernel;
using memory::Lines;
using memory::Passing;
using memory::Passings;

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
    case CopyKernel::abreast:
      return HandoffKind::ring_abreast;
  }
  return HandoffKind::ring;
}

double ring_ns(const machine::CostModel& model, const Passing& passing, double bytes, int from,
               int to) {
  return model.handoff_ns(bytes, from, to, ring_kind(passing));
}

bool is_possible(const Passing& passing, Passings allowed) {
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), passing) != allowed.end();
  return is_allowed && memory::is_native(passing.in) && memory::is_native(passing.out);
}

Passing passing_for(const machine::CostModel& model, double bytes, int from, int to,
                    Passings allowed) {
  Passing best;
  double best_ns = ring_ns(model, best, bytes, from, to);
  for (const Passing& passing : allowed) {
    const double ns = ring_ns(model, passing, bytes, from, to);
    if (!is_possible(passing, allowed) || ns >= best_ns) continue;
    best = passing;
    best_ns = ns;
  }
  return best;
}

namespace {

// Of the two that have curves of their own.
memory::KernelBySize kernels(const machine::CostModel& model, HandoffKind plain,
                             HandoffKind abreast, int from, int to) {
  memory::KernelBySize by_size;
  if (!memory::is_native(CopyKernel::abreast)) return by_size;
  for (std::size_t power = 0; power < memory::KernelBySize::sizes; ++power) {
    const double bytes = std::ldexp(1.0, static_cast<int>(power));
    const bool is_sooner =
        model.handoff_ns(bytes, from, to, abreast) < model.handoff_ns(bytes, from, to, plain);
    if (is_sooner) by_size.set(power, CopyKernel::abreast);
  }
  return by_size;
}

}  // namespace

memory::KernelBySize kernels_of_reads(const machine::CostModel& model, int from, int to) {
  return kernels(model, HandoffKind::read_dirty, HandoffKind::read_abreast, from, to);
}

memory::KernelBySize kernels_of_writes(const machine::CostModel& model, int from, int to) {
  return kernels(model, HandoffKind::write_cached, HandoffKind::write_abreast, from, to);
}

}  // namespace huddle::node
