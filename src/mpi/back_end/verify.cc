// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/verify.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/back_end/call.h"
#include "mpi/back_end/calls/allgather.h"
#include "mpi/back_end/calls/alltoall.h"
#include "mpi/back_end/calls/bcast.h"
#include "mpi/back_end/calls/gather_scatter.h"
#include "mpi/back_end/calls/reductions.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/message.h"
#include "mpi/verification.h"

namespace huddle::mpi {
namespace {

std::size_t bytes_of(const std::vector<Part>& parts) {
  std::size_t sum = 0;
  for (const Part& part : parts) sum += part.bytes();
  return sum;
}

}  // namespace

ReferenceResult::ReferenceResult(const UnderlyingMpi& real, Comm comm, Written written)
    : real_(real),
      comm_(comm),
      written_(std::move(written)),
      held_(written_.parts),
      compared_bytes_(bytes_of(written_.parts)) {
  if (written_.read) held_ = {*written_.read};
  before_ = data();
}

std::vector<std::byte> ReferenceResult::data() const {
  std::vector<std::byte> all;
  for (const Part& part : held_) {
    if (part.bytes() == 0) continue;
    Dense view(real_, comm_, part);
    view.fetch();
    all.insert(all.end(), view.data(), view.data() + view.bytes());
  }
  return all;
}

void ReferenceResult::restore(const std::vector<std::byte>& data) const {
  const std::byte* from = data.data();
  for (const Part& part : held_) {
    if (part.bytes() == 0) continue;
    Dense view(real_, comm_, part);
    std::copy_n(from, view.bytes(), view.data());
    view.store();
    from += view.bytes();
  }
}

void ReferenceResult::begin() {
  save_huddle_result();
  restore(before_);
}

void ReferenceResult::end() {
  theirs_ = data();
  if (theirs_ != ours_) restore(ours_);
}

std::string ReferenceResult::place_of(std::size_t byte) const {
  for (std::size_t i = 0; i < written_.parts.size(); ++i) {
    const Part& part = written_.parts[i];
    if (byte >= part.bytes()) {
      byte -= part.bytes();
      continue;
    }
    const std::string of = written_.parts.size() == 1 ? "" : fmt::format(" of block {}", i);
    return fmt::format("element {}{}", byte / part.facts->bytes, of);
  }
  return "no element";
}

namespace {

bool is_number(memory::Type type) {
  const memory::TypeKind kind = memory::facts(type).kind;
  return (kind == memory::TypeKind::floating || kind == memory::TypeKind::complex) &&
         type != memory::Type::float16 && type != memory::Type::bfloat16;
}

bool is_rounded(memory::Operator op) {
  return op == memory::Operator::sum || op == memory::Operator::product;
}

// Compares packed pairs, but without the padding of long doubles.
bool are_same_pairs(const ReferenceResult& reference, const TypeFacts& pair, bool has_padding) {
  const std::span<const std::byte> ours = reference.ours();
  const std::span<const std::byte> theirs = reference.theirs();
  if (!has_padding) return std::equal(ours.begin(), ours.end(), theirs.begin());
  for (std::size_t at = 0; at < ours.size(); at += pair.bytes) {
    const std::size_t index = at + sizeof(long double);
    if (std::memcmp(&ours[at], &theirs[at], long_double_value_bytes) != 0 ||
        std::memcmp(&ours[index], &theirs[index], sizeof(int)) != 0) {
      return false;
    }
  }
  return true;
}

std::size_t first_difference(const ReferenceResult& reference, std::size_t from) {
  const auto begin = static_cast<std::ptrdiff_t>(from);
  const std::span<const std::byte> ours = reference.ours();
  const auto found =
      std::mismatch(ours.begin() + begin, ours.end(), reference.theirs().begin() + begin);
  return static_cast<std::size_t>(found.first - ours.begin());
}

// Determines which bytes of a packed part are padding of long doubles, from their addresses in the
// program's memory: long doubles are aligned to their size.
class Padding {
 public:
  // Determines the offset of each packed byte: packs an element in which each byte contains the low
  // bits of its own offset.
  Padding(const UnderlyingMpi& real, Comm comm, const Part& part) : part_(part) {
    const TypeFacts& facts = *part.facts;
    is_known_ = facts.span <= most_span_bytes;
    if (!is_known_) return;
    std::vector<std::byte> element(facts.span);
    for (std::size_t i = 0; i < element.size(); ++i) {
      element[i] = static_cast<std::byte>(low_bits(facts.first_byte + static_cast<Aint>(i)));
    }
    void* const address = moved(element.data(), -facts.first_byte);
    Dense packed(real, comm, {{address, 1, part.place.type}, &facts});
    packed.fetch();
    offsets_.assign(packed.data(), packed.data() + packed.bytes());
  }

  // Returns false if the data of an element are too far apart.
  bool is_known() const { return is_known_; }
  // `byte` is an index in the packed part.
  // Requires: is_known().
  bool holds(std::size_t byte) const {
    const auto element = static_cast<Aint>(byte / offsets_.size());
    const Aint address = number_of(part_.place.address) + element * part_.facts->extent +
                         std::to_integer<Aint>(offsets_[byte % offsets_.size()]);
    return low_bits(address) >= long_double_value_bytes;
  }

 private:
  // A limit on the copy of one element: only types that contain addresses exceed it.
  static constexpr std::size_t most_span_bytes = std::size_t{64} << 20;
  // Correct for negative numbers too.
  static std::size_t low_bits(Aint offset) {
    return static_cast<std::size_t>(offset) % sizeof(long double);
  }

  Part part_;
  bool is_known_ = false;
  std::vector<std::byte> offsets_;
};

}  // namespace

Comparison compare_bytes(const Process& process, Comm comm, const Written& written,
                         const ReferenceResult& reference) {
  std::size_t at = first_difference(reference, 0);
  std::size_t begin = 0;
  for (const Part& part : written.parts) {
    const std::size_t end = begin + part.bytes();
    if (at < end && process.types().holds_padding(part.place.type)) {
      const Padding padding(process.real(), comm, part);
      if (!padding.is_known()) return Comparison::impossible(Incomparable::far_padding);
      while (at < end && padding.holds(at - begin)) at = first_difference(reference, at + 1);
    }
    if (at < end) break;
    begin = end;
  }
  const std::size_t bytes = reference.ours().size();
  if (at >= bytes) return {};
  return Comparison::different(fmt::format("{} differs from the MPI's result (byte {} of {})",
                                           reference.place_of(at), at, bytes));
}

ResultComparison::ResultComparison(const Process& process, Comm comm, const Part& brought, Op op)
    : process_(process), comm_(comm), kernel_(kernel_of(process.operators(), *brought.facts, op)) {}

bool ResultComparison::wants_scale() const {
  return kernel_ && is_number(kernel_->type) && is_rounded(kernel_->op);
}

std::vector<double> ResultComparison::magnitudes_of(const void* numbers, Count count) const {
  return magnitudes(kernel_->type, numbers, static_cast<std::size_t>(count));
}

Op ResultComparison::operator_of_scale() const {
  return process_.operators().named(kernel_->op == memory::Operator::sum ? "MPI_SUM" : "MPI_PROD");
}

Comparison ResultComparison::result(const Written& written, const ReferenceResult& reference,
                                    int ranks) const {
  if (written.parts.empty()) return {};
  const Part& part = written.parts.front();
  if (!kernel_) {
    // Only the program knows which rounding its own operator allows.
    const Comparison bits = compare_bytes(process_, comm_, written, reference);
    return bits.difference ? Comparison::impossible(Incomparable::unknown_rounding) : bits;
  }
  if (memory::facts(kernel_->type).kind == memory::TypeKind::located) {
    return of_pairs(part, reference);
  }
  return is_number(kernel_->type) ? of_numbers(part, reference, ranks)
                                  : compare_bytes(process_, comm_, written, reference);
}

Comparison ResultComparison::of_pairs(const Part& part, const ReferenceResult& reference) const {
  const bool has_padding = process_.types().holds_padding(part.place.type);
  if (are_same_pairs(reference, *part.facts, has_padding)) return {};
  return Comparison::different("the pairs differ from the MPI's result");
}

// Predefined numeric types have no gaps, so the packed results are arrays.
Comparison ResultComparison::of_numbers(const Part& part, const ReferenceResult& reference,
                                        int ranks) const {
  const auto count = static_cast<std::size_t>(part.place.count);
  const void* const ours = reference.ours().data();
  const void* const theirs = reference.theirs().data();
  const std::optional<Difference> difference =
      is_rounded(kernel_->op) ? compare_rounded(kernel_->type, ours, theirs, count, ranks, scale_)
                              : compare_values(kernel_->type, ours, theirs, count);
  if (!difference) return {};
  return Comparison::different(fmt::format("element {}: the results of huddle and the MPI are {}",
                                           difference->at, difference->text));
}

namespace {

// Returns what the call writes on this rank. The root of a broadcast only reads its buffer. Other
// threads may read it at the same time, so nothing may be restored there.
template <MovesData Call>
Written written_here(const Communicator& communicator, const Call& call) {
  Written written = call.written(communicator);
  if constexpr (!HasInput<Call>) {
    if (!call.read(communicator).empty()) written.parts.clear();
  }
  return written;
}

template <CollectiveCall Call>
void note(Process& process, const Communicator& communicator, const Call& call,
          const Comparison& comparison) {
  if (comparison.incomparable) {
    process.verification().note_skipped(*comparison.incomparable);
  } else if (!comparison.difference) {
    process.verification().note_equal();
  } else if (process.verification().note_difference()) {
    process.warn(fmt::format("verify: {}: {}", described(process, communicator, call),
                             *comparison.difference));
  }
}

// Runs the call through huddle and then through the MPI, and compares the results with `compare`.
// Records nothing about a call that falls back to the MPI, which the caller runs and counts.
template <CollectiveCall Call, class Compare>
FallbackReason run_both_ways(Process& process, Communicator& communicator, const Call& call,
                             ReferenceResult& reference, const Compare& compare) {
  const FallbackReason fallback = call.run(process, communicator);
  if (fallback != FallbackReason::none) return fallback;
  reference.begin();
  const int status = call.run_by_mpi(process.real());
  reference.end();
  note(process, communicator, call,
       status == success ? compare() : Comparison::impossible(Incomparable::mpi_failed));
  return fallback;
}

// Returns each result's scale: the magnitudes of all inputs, reduced like the inputs.
template <Reduction Call>
std::vector<double> scale_of(const Process& process, const ResultComparison& comparison,
                             Call call) {
  const std::vector<double> scale = comparison.magnitudes_of(call.brought(), call.count);
  std::vector<double> combined(scale.size());
  call.input = scale.data();
  call.output = combined.data();
  call.type = process.types().named("MPI_DOUBLE");
  call.op = comparison.operator_of_scale();
  call.run_by_mpi(process.real());
  return combined;
}

// The comparison is set up before the call, which may overwrite its input.
template <Reduction Call>
FallbackReason verified_reduction(Process& process, Communicator& communicator, const Call& call) {
  const Written written = call.written(communicator);
  ResultComparison comparison(process, call.comm, {{nullptr, call.count, call.type}, call.facts},
                              call.op);
  if (comparison.wants_scale()) comparison.set_scale(scale_of(process, comparison, call));
  ReferenceResult reference(process.real(), call.comm, written);
  return run_both_ways(process, communicator, call, reference,
                       [&] { return comparison.result(written, reference, communicator.ranks); });
}

template <MovesData Call>
FallbackReason verified_move(Process& process, Communicator& communicator, const Call& call) {
  const Written written = written_here(communicator, call);
  ReferenceResult reference(process.real(), call.comm, written);
  return run_both_ways(process, communicator, call, reference,
                       [&] { return compare_bytes(process, call.comm, written, reference); });
}

}  // namespace

template <CollectiveCall Call>
FallbackReason verified(Process& process, Communicator& communicator, const Call& call) {
  if constexpr (Reduction<Call>) {
    return verified_reduction(process, communicator, call);
  } else {
    return verified_move(process, communicator, call);
  }
}

template <>
FallbackReason verified(Process& process, Communicator& communicator, const BarrierCall& call) {
  const FallbackReason fallback = call.run(process, communicator);
  if (fallback != FallbackReason::none) return fallback;
  // A barrier has no result: it counts as compared if the MPI's succeeds as well.
  if (call.run_by_mpi(process.real()) == success) {
    process.verification().note_equal();
  } else {
    process.verification().note_skipped(Incomparable::mpi_failed);
  }
  return fallback;
}

template FallbackReason verified(Process&, Communicator&, const BcastCall&);
template FallbackReason verified(Process&, Communicator&, const ReduceCall&);
template FallbackReason verified(Process&, Communicator&, const AllreduceCall&);
template FallbackReason verified(Process&, Communicator&, const AllgatherCall&);
template FallbackReason verified(Process&, Communicator&, const AllgathervCall&);
template FallbackReason verified(Process&, Communicator&, const AlltoallCall&);
template FallbackReason verified(Process&, Communicator&, const AlltoallvCall&);
template FallbackReason verified(Process&, Communicator&, const AlltoallwCall&);
template FallbackReason verified(Process&, Communicator&, const GatherCall&);
template FallbackReason verified(Process&, Communicator&, const GathervCall&);
template FallbackReason verified(Process&, Communicator&, const ScatterCall&);
template FallbackReason verified(Process&, Communicator&, const ScattervCall&);
template FallbackReason verified(Process&, Communicator&, const ReduceScatterCall&);
template FallbackReason verified(Process&, Communicator&, const ReduceScatterBlockCall&);
template FallbackReason verified(Process&, Communicator&, const ScanCall&);
template FallbackReason verified(Process&, Communicator&, const ExscanCall&);

}  // namespace huddle::mpi
