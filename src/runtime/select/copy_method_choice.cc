// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/copy_method_choice.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace huddle::select {

using machine::HandoffKind;
using memory::CopyKernel;
using memory::CopyMethod;
using memory::CopyMethods;

namespace {

// A name that no machine file can have does not compile.
constexpr std::array<CopyMethodCurves, memory::copy_methods.size()> curves = [] {
  std::array<CopyMethodCurves, memory::copy_methods.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const memory::CopyMethodFacts& method = memory::copy_methods[i];
    all[i] = {machine::handoff_kind(method.write_curve), machine::handoff_kind(method.read_curve),
              machine::handoff_kind(method.ring_curve), std::nullopt};
    if (!method.own_curve.empty()) all[i].own = machine::handoff_kind(method.own_curve);
  }
  return all;
}();

}  // namespace

const CopyMethodCurves& curves_of(CopyMethod method) { return curves[method.number()]; }

double ring_ns(const machine::CostModel& model, CopyMethod method, double bytes, int from, int to) {
  return model.handoff_ns(bytes, from, to, curves_of(method).ring);
}

bool is_possible(CopyMethod method, CopyMethods allowed) {
  const bool is_allowed = std::find(allowed.begin(), allowed.end(), method) != allowed.end();
  return is_allowed && memory::is_native(method->in) && memory::is_native(method->out);
}

CopyMethod copy_method_for(const machine::CostModel& model, double bytes, int from, int to,
                           CopyMethods allowed) {
  CopyMethod best;
  double best_ns = ring_ns(model, best, bytes, from, to);
  for (const CopyMethod method : allowed) {
    const double ns = ring_ns(model, method, bytes, from, to);
    if (!is_possible(method, allowed) || ns >= best_ns) continue;
    best = method;
    best_ns = ns;
  }
  return best;
}

namespace {

// For each size the kernel whose curve lies lowest; curves are those of `curve(method)`.
template <class Curve>
memory::KernelBySize kernels(const machine::CostModel& model, Curve curve, int from, int to) {
  memory::KernelBySize by_size;
  for (std::size_t power = 0; power < memory::KernelBySize::sizes; ++power) {
    const double bytes = std::ldexp(1.0, static_cast<int>(power));
    double best_ns = model.handoff_ns(bytes, from, to, curve(curves_of(CopyKernel::plain)));
    for (const CopyMethod method : memory::same_kernel_both_ends) {
      if (!memory::is_native(method->in)) continue;
      const double ns = model.handoff_ns(bytes, from, to, curve(curves_of(method)));
      if (ns >= best_ns) continue;
      best_ns = ns;
      by_size.set(power, method->in);
    }
  }
  return by_size;
}

}  // namespace

memory::KernelBySize kernels_of_reads(const machine::CostModel& model, int from, int to) {
  return kernels(
      model, [](const CopyMethodCurves& method) { return method.read; }, from, to);
}

memory::KernelBySize kernels_of_writes(const machine::CostModel& model, int from, int to) {
  return kernels(
      model, [](const CopyMethodCurves& method) { return method.write; }, from, to);
}

}  // namespace huddle::select
