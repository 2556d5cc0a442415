// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/prices.h"

#include <algorithm>
#include <cmath>

#include "machine/machine.h"
#include "node/copy_choice.h"
#include "node/lines.h"

namespace huddle::select {
namespace {

using machine::HandoffKind;

// Kernels other than the non-temporal one write into the caches.
bool past_the_caches(memory::CopyKernel kernel) {
  return kernel == memory::CopyKernel::nontemporal;
}

}  // namespace

Prices::Prices(const machine::CostModel& model, const node::Seats& seats)
    : model_(model), seats_(seats) {
  const double yield_ns = model.system_ns(machine::SystemCall::yield);
  for (const int pu : seats.pus) {
    const auto others = std::count(seats.pus.begin(), seats.pus.end(), pu) - 1;
    turn_ns_.push_back(std::isfinite(yield_ns) ? static_cast<double>(others) * yield_ns : 0);
  }
}

std::vector<int> Prices::pus(std::span<const int> ranks) const {
  std::vector<int> pus;
  for (const int rank : ranks) pus.push_back(pu(rank));
  return pus;
}

double Prices::line_to_ns(int from, std::span<const int> readers) const {
  double turn = 0;
  for (const int reader : readers) turn = std::max(turn, turn_ns(reader));
  return model_.line_to_readers_ns(pu(from), pus(readers)) + turn;
}

double Prices::flags_ns(std::span<const int> writers, int reader, int flags_a_line) const {
  if (writers.empty()) return 0;
  return model_.flags_ns(pus(writers), pu(reader), flags_a_line) + turn_ns(reader);
}

double Prices::rest_ns(std::size_t bytes, int from, int to) const {
  const std::size_t all = bytes + node::payload_offset;
  if (all <= node::line_bytes || pu(from) == pu(to)) return 0;
  const auto read = [&](std::size_t size) {
    return model_.handoff_ns(static_cast<double>(size), pu(from), pu(to), HandoffKind::read_dirty);
  };
  return read(all) - read(node::line_bytes);
}

double Prices::read_ns(std::size_t bytes, int from, int to, int others) const {
  return model_.copy_ns({.bytes = static_cast<double>(bytes),
                         .copier = pu(to),
                         .peer = pu(from),
                         .source = machine::Source::peer_wrote,
                         .target = machine::Target::own_cache,
                         .others = others});
}

double Prices::write_ns(std::size_t bytes, std::size_t buffers_bytes, int rank, int reader,
                        memory::CopyKernel kernel) const {
  const auto kind =
      past_the_caches(kernel) ? HandoffKind::write_cached_nontemporal : HandoffKind::write_cached;
  const auto write = [&](double size) {
    return model_.handoff_ns(size, pu(rank), pu(reader), kind);
  };
  const auto block = static_cast<double>(bytes);
  const double all = std::max(block, static_cast<double>(buffers_bytes));
  return std::max(write(block), write(all) * block / all);
}

double Prices::stream_ns(std::size_t bytes, int from, int to, memory::CopyKernel kernel) const {
  return node::ring_ns(model_, kernel, static_cast<double>(bytes), pu(from), pu(to));
}

memory::CopyKernel Prices::kernel_for(std::size_t bytes, int from, int to) const {
  return node::copy_kernel_for(model_, static_cast<double>(bytes), pu(from), pu(to));
}

double Prices::join_ns(std::size_t bytes, std::size_t data_bytes, int rank) const {
  const auto copy = [&](double size) {
    return model_.copy_ns({.bytes = size, .copier = pu(rank), .peer = pu(rank)});
  };
  const auto block = static_cast<double>(bytes);
  const double all = std::max(block, static_cast<double>(data_bytes));
  return std::max(copy(block), copy(all) * block / all);
}

int Prices::farthest_from(int rank) const {
  int farthest = rank == 0 ? 1 : 0;
  for (int other = 0; other < ranks(); ++other) {
    if (other != rank && line_ns(rank, other) > line_ns(rank, farthest)) farthest = other;
  }
  return farthest;
}

memory::CopyKernel Prices::block_kernel_for(std::size_t bytes, std::size_t buffers_bytes, int from,
                                            int to) const {
  using memory::CopyKernel;
  const auto ns = [&](CopyKernel kernel) {
    return write_ns(bytes, buffers_bytes, from, to, kernel);
  };
  if (ns(CopyKernel::nontemporal) < ns(CopyKernel::plain)) return CopyKernel::nontemporal;
  // Those that write into the caches were measured as rings only.
  const CopyKernel streaming = kernel_for(bytes, from, to);
  return past_the_caches(streaming) ? CopyKernel::plain : streaming;
}

std::vector<double> times_down(const Prices& prices, const node::Tree& tree) {
  std::vector<double> times(static_cast<std::size_t>(tree.ranks()), 0);
  std::vector<int> ready = {tree.root()};
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const int parent = ready[next];
    const auto children = tree.children(parent);
    const double step_ns = prices.line_to_ns(parent, children);
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
