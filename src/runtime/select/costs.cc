// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/select/costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "model/machine/machine.h"
#include "runtime/node/lines.h"

namespace huddle::select {

using machine::HandoffKind;
using memory::CopyKernel;
using memory::CopyMethod;
using memory::CopyMethods;

namespace {

// If a copy method has an unknown name of a hand-off kind, this does not compile.
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
                           CopyMethods allowed, const memory::CopyMethodSet& avoided) {
  const auto ns_of = [&](CopyMethod method) {
    return avoided.test(method.number()) ? std::numeric_limits<double>::infinity()
                                         : ring_ns(model, method, bytes, from, to);
  };
  CopyMethod best;
  double best_ns = ns_of(best);
  for (const CopyMethod method : allowed) {
    const double ns = ns_of(method);
    if (!is_possible(method, allowed) || ns >= best_ns) continue;
    best = method;
    best_ns = ns;
  }
  return best;
}

namespace {

// Returns for each size the kernel with the lowest curve; curve(method) selects the curve.
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

namespace {

using memory::LineOwnership;

// All kernels except the non-temporal one write into the caches.
bool past_the_caches(CopyMethod method) { return method->in == CopyKernel::nontemporal; }

}  // namespace

Costs::Costs(const machine::CostModel& model, const node::RankLocality& locality,
             const memory::CopyMethodSet& avoided)
    : model_(model), locality_(locality), avoided_(avoided) {
  const std::set<int> processors(locality.pus.begin(), locality.pus.end());
  processors_ = static_cast<double>(processors.size());
  const double yield_ns = model.system_ns(machine::SystemCall::yield);
  for (const int pu : locality.pus) {
    const auto others = std::count(locality.pus.begin(), locality.pus.end(), pu) - 1;
    turn_ns_.push_back(std::isfinite(yield_ns) ? static_cast<double>(others) * yield_ns : 0);
  }
  farthest_from_first_ = found_farthest_from(0);
  const std::vector<int> others = others_than(0);
  flags_to_first_ns_ = flags_ns(others, 0, 1);
  synchronization_ns_ = flags_to_first_ns_ + queue_ns(0, others);
}

std::vector<int> Costs::pus(std::span<const int> ranks) const {
  std::vector<int> pus;
  for (const int rank : ranks) pus.push_back(pu(rank));
  return pus;
}

double Costs::line_to_ns(int from, std::span<const int> readers) const {
  double turn = 0;
  for (const int reader : readers) turn = std::max(turn, turn_ns(reader));
  return model_.line_to_readers_ns(pu(from), pus(readers)) + turn;
}

double Costs::flags_ns(std::span<const int> writers, int reader, int flags_a_line) const {
  if (writers.empty()) return 0;
  return model_.flags_ns(pus(writers), pu(reader), flags_a_line) + turn_ns(reader);
}

// Several readers of a line get it one after the other.
double Costs::queue_ns(int from, std::span<const int> readers) const {
  if (readers.empty()) return 0;
  double alone_ns = 0;
  for (const int reader : readers) alone_ns = std::max(alone_ns, line_ns(from, reader));
  return std::max(0.0, line_to_ns(from, readers) - alone_ns);
}

double Costs::rest_ns(std::size_t bytes, int from, int to) const {
  const std::size_t all = bytes + node::payload_offset;
  if (all <= node::line_bytes || pu(from) == pu(to)) return 0;
  const auto read = [&](std::size_t size) {
    return model_.handoff_ns(static_cast<double>(size), pu(from), pu(to), HandoffKind::read_dirty);
  };
  return read(all) - read(node::line_bytes);
}

double Costs::copy_ns(machine::Copy copy, CopyMethod method) const {
  copy.read = curves_of(method).read;
  copy.write = curves_of(method).write;
  return model_.copy_ns(copy);
}

double Costs::copy_out_ns(std::size_t bytes, int from, int to, int others,
                          CopyMethod method) const {
  return copy_ns({.bytes = static_cast<double>(bytes),
                  .copier = pu(to),
                  .peer = pu(from),
                  .source = machine::Source::peer_wrote,
                  .target = machine::Target::own_cache,
                  .others = others},
                 method);
}

// In a ring the reader waits only for data, so the time of a ring is a lower bound for reading data
// written by non-temporal stores.
double Costs::read_ns(std::size_t bytes, int from, int to, int others, CopyMethod method) const {
  const double cached_ns = copy_out_ns(bytes, from, to, others, method);
  if (const auto own = curves_of(method).own) {
    return std::max(cached_ns,
                    model_.handoff_ns(static_cast<double>(bytes), pu(from), pu(to), *own));
  }
  if (!past_the_caches(method)) return cached_ns;
  const double ring_ns = stream_ns(bytes, from, to, method);
  return std::isfinite(ring_ns) ? std::max(cached_ns, ring_ns) : cached_ns;
}

namespace {

// Returns the time of a block of `block` bytes that is a part of `all` bytes, where pass(bytes) is
// the time of a whole transfer. Transfers of the other parts hide everything but the latency of the
// block's first line.
template <class PassNs>
double share_of_ns(double block, double all, PassNs pass) {
  const double whole_ns = pass(all);
  if (block >= all || !std::isfinite(whole_ns)) return whole_ns;
  const double first_ns = pass(std::min<double>(block, node::line_bytes));
  return first_ns + (whole_ns - first_ns) * block / all;
}

}  // namespace

double Costs::share_ns(HandoffKind kind, std::size_t bytes, std::size_t buffers_bytes, int from,
                       int to) const {
  const auto pass = [&](double size) { return model_.handoff_ns(size, pu(from), pu(to), kind); };
  const auto block = static_cast<double>(bytes);
  const double all = std::max(block, static_cast<double>(buffers_bytes));
  return share_of_ns(block, all, pass);
}

double Costs::write_ns(std::size_t bytes, std::size_t buffers_bytes, int rank, int reader,
                       CopyMethod method) const {
  const double ns = share_ns(curves_of(method).write, bytes, buffers_bytes, rank, reader);
  if (!method.is_at_hand()) return ns;
  // The reader has the lines cached as well, so that a write to lines shared by readers is an upper
  // bound.
  return std::min(ns, write_ns(bytes, buffers_bytes, rank, reader, method.where_readers_share()));
}

double Costs::read_share_ns(std::size_t bytes, std::size_t of_bytes, int from, int to, int others,
                            CopyMethod method) const {
  const double all = static_cast<double>(std::max(bytes, of_bytes));
  return share_of_ns(static_cast<double>(bytes), all, [&](double size) {
    return read_ns(static_cast<std::size_t>(size), from, to, others, method);
  });
}

double Costs::show_ns(std::size_t bytes, std::size_t buffers_bytes, int rank, int reader,
                      CopyMethod method) const {
  if (node::fits_behind_flag(bytes)) return 0;
  const double ns = write_ns(bytes, buffers_bytes, rank, reader, method);
  // Non-temporal stores complete before the flag is written.
  if (!std::isfinite(ns) || past_the_caches(method)) return ns;
  return std::max(0.0, ns - write_ns(node::line_bytes, buffers_bytes, rank, reader, method));
}

double Costs::stream_ns(std::size_t bytes, int from, int to, CopyMethod method) const {
  return select::ring_ns(model_, method, static_cast<double>(bytes), pu(from), pu(to));
}

CopyMethod Costs::copy_method_for(std::size_t bytes, int from, int to,
                                  memory::CopyMethods allowed) const {
  return select::copy_method_for(model_, static_cast<double>(bytes), pu(from), pu(to), allowed,
                                 avoided_);
}

double Costs::copy_mapped_ns(std::size_t bytes, int others, machine::Source source,
                             machine::Target target) const {
  const machine::Copy copy = {.bytes = static_cast<double>(bytes),
                              .copier = pu(0),
                              .peer = pu(farthest_from(0)),
                              .source = source,
                              .target = target,
                              .others = others};
  double least_ns = std::numeric_limits<double>::infinity();
  for (const CopyMethod method : memory::same_kernel_both_ends) {
    least_ns = std::min(least_ns, copy_ns(copy, method));
  }
  return least_ns;
}

double Costs::path_ns(std::string_view path, std::size_t bytes, int others) const {
  return model_.path_ns(path, static_cast<double>(bytes), others, pu(0), pu(farthest_from(0)));
}

double Costs::fetch_ns(std::size_t bytes, int others, const PeerCopy& by) const {
  return by.mapped ? copy_mapped_ns(bytes, others, machine::Source::peer_wrote,
                                    machine::Target::own_cache)
                   : path_ns(by.name, bytes, others);
}

double Costs::fetch_again_ns(std::size_t bytes, int others, const PeerCopy& by) const {
  return by.mapped ? copy_mapped_ns(bytes, others, machine::Source::peer_wrote,
                                    machine::Target::peer_cached)
                   : path_ns(by.name, bytes, others) + dearer_to_write_ns(bytes);
}

// Through a path of the operating system the work is the same as for a fetch, except that the
// written lines must be taken from the peer's caches.
double Costs::push_ns(std::size_t bytes, int others, const PeerCopy& by) const {
  return by.mapped ? copy_mapped_ns(bytes, others, machine::Source::own_cache,
                                    machine::Target::peer_cached)
                   : path_ns(by.name, bytes, others) + dearer_to_write_ns(bytes);
}

double Costs::dearer_to_write_ns(std::size_t bytes) const {
  const int far = farthest_from(0);
  const double write_alone_ns = write_ns(bytes, bytes, 0, far, CopyKernel::plain);
  return std::max(0.0, write_alone_ns - read_ns(bytes, far, 0, 0));
}

namespace {

// Returns the time of `bytes` at the rate of a copy of data_bytes, but at least the time of a copy
// of the block alone; copy_ns(bytes) is the time of a copy.
template <class CopyNs>
double paced_ns(std::size_t bytes, std::size_t data_bytes, CopyNs copy_ns) {
  const auto block = static_cast<double>(bytes);
  const double all = std::max(block, static_cast<double>(data_bytes));
  return std::max(copy_ns(block), copy_ns(all) * block / all);
}

}  // namespace

double Costs::copy_by_all_ns(double bytes, machine::Source source, machine::Target target) const {
  return model_.copy_ns({.bytes = bytes,
                         .copier = pu(0),
                         .peer = pu(0),
                         .source = source,
                         .target = target,
                         .others = static_cast<int>(processors_) - 1});
}

double Costs::move_ns(std::size_t bytes, std::size_t all_bytes, CopyKernel kernel) const {
  const auto target =
      kernel == CopyKernel::nontemporal ? machine::Target::memory : machine::Target::own_cache;
  return paced_ns(bytes, share_of_processor(all_bytes), [&](double size) {
    return copy_by_all_ns(size, machine::Source::own_cache, target);
  });
}

CopyKernel Costs::kernel_of_results(std::size_t all_bytes) const {
  using machine::Source;
  using machine::Target;
  const auto size = static_cast<double>(std::max<std::size_t>(share_of_processor(all_bytes), 1));
  const double cached_ns = copy_by_all_ns(size, Source::own_cache, Target::own_cache);
  const double past_ns = copy_by_all_ns(size, Source::own_cache, Target::memory);
  const double read_ns = copy_by_all_ns(size, Source::near_memory, Target::own_cache);
  return past_ns + read_ns < 2 * cached_ns ? CopyKernel::nontemporal : CopyKernel::plain;
}

double Costs::reduce_ns(std::size_t bytes, std::size_t data_bytes, int rank) const {
  return paced_ns(bytes, data_bytes, [&](double size) {
    return model_.copy_ns({.bytes = size, .copier = pu(rank), .peer = pu(rank)});
  });
}

int Costs::found_farthest_from(int rank) const {
  int farthest = rank == 0 ? 1 : 0;
  double farthest_ns = line_ns(rank, farthest);
  for (int other = 0; other < ranks(); ++other) {
    if (other == rank) continue;
    const double ns = line_ns(rank, other);
    if (ns <= farthest_ns) continue;
    farthest = other;
    farthest_ns = ns;
  }
  return farthest;
}

std::vector<int> Costs::others_than(int rank) const {
  std::vector<int> others(static_cast<std::size_t>(ranks()));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + rank);
  return others;
}

namespace {

bool is_measured_in_ring_only(CopyMethod method) {
  constexpr memory::CopyMethodFacts plain;
  return method != CopyMethod() && method->ownership == plain.ownership &&
         method->write_curve == plain.write_curve && method->read_curve == plain.read_curve;
}

}  // namespace

CopyMethod Costs::block_copy_method_for(const Piece& piece, int from, int to,
                                        memory::CopyMethods allowed) const {
  const auto ns = [&](CopyMethod method) {
    if (avoids(method)) return std::numeric_limits<double>::infinity();
    const double both_ns = write_ns(piece.bytes, piece.buffers_bytes, from, to, method) +
                           read_share_ns(piece.bytes, piece.of_bytes, from, to, 0, method);
    // Without plain, which has the same curves as methods that were measured only in a ring, these
    // have to be compared with the others.
    return avoids({}) && is_measured_in_ring_only(method)
               ? both_ns * stream_ns(piece.bytes, from, to, method) /
                     stream_ns(piece.bytes, from, to, {})
               : both_ns;
  };
  CopyMethod best = allowed.front();
  double best_ns = ns(best);
  for (const CopyMethod method : allowed) {
    if (method == best || !select::is_possible(method, allowed)) continue;
    const double method_ns = ns(method);
    if (!(method_ns < best_ns)) continue;  // also if it is unknown (NaN)
    best = method;
    best_ns = method_ns;
  }
  if (best != CopyMethod()) return best;
  // The other methods that write into the caches have been measured only in a ring.
  const CopyMethod streaming = copy_method_for(piece.bytes, from, to, allowed);
  return past_the_caches(streaming) || streaming->ownership != LineOwnership::readers_share
             ? best
             : streaming;
}

std::vector<double> times_down(const Costs& costs, const node::Tree& tree) {
  std::vector<double> times(static_cast<std::size_t>(tree.ranks()), 0);
  std::vector<int> ready = {tree.root()};
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const int parent = ready[next];
    const auto children = tree.children(parent);
    const double step_ns = costs.line_to_ns(parent, children);
    for (const int child : children) {
      times[static_cast<std::size_t>(child)] = times[static_cast<std::size_t>(parent)] + step_ns;
      ready.push_back(child);
    }
  }
  return times;
}

double last(const std::vector<double>& times) {
  return *std::max_element(times.begin(), times.end());
}

}  // namespace huddle::select
