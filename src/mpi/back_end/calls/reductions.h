// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The reductions: MPI_Allreduce, MPI_Reduce, MPI_Reduce_scatter, MPI_Scan and their variants.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "common/arithmetic.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/reducer.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// One rank's buffers of a reduction, as a team needs them: the program's buffers, or packed copies
// if a user-defined operator reduces elements with gaps.
class ReductionParts {
 public:
  // `output` is null on ranks that get no result.
  ReductionParts(const void* input, void* output) : in_(input), out_(output) {}
  // Replaces both buffers by packed copies. `output` is null if this rank gets no result.
  void pack(const UnderlyingMpi& real, Comm comm, const Part& input, const Part* output) {
    packed_in_.emplace(real, comm, input);
    packed_in_->fetch();
    in_ = packed_in_->data();
    if (output == nullptr) return;
    packed_out_.emplace(real, comm, *output);
    out_ = packed_out_->data();
  }

  void replace_output(void* output) { out_ = output; }

  const void* input() const { return in_; }
  void* output() const { return out_; }
  // Copies a packed result to the program's buffer.
  void finish() {
    if (packed_out_) packed_out_->store();
  }

 private:
  const void* in_;
  void* out_;
  std::optional<Dense> packed_in_;
  std::optional<Dense> packed_out_;
};

// Receives the result of a reduction of pairs with gaps, such as MPI_DOUBLE_INT. Operators write
// whole elements, but the program's gaps must stay as they are, and the last one may be behind its
// buffer.
class PairResult {
 public:
  PairResult(void* output, Count count, const TypeFacts& facts)
      : output_(static_cast<std::byte*>(output)),
        count_(static_cast<std::size_t>(count)),
        extent_(static_cast<std::size_t>(facts.extent)),
        value_bytes_(facts.bytes - sizeof(int)) {
    if (count_ * extent_ > small_.size()) {
      large_ = std::make_unique_for_overwrite<std::byte[]>(count_ * extent_);
    }
  }

  void* data() { return large_ ? large_.get() : small_.data(); }
  // Copies the result to the program's buffer.
  void store() {
    const std::size_t index_at = round_up(value_bytes_, alignof(int));
    const auto* from = static_cast<const std::byte*>(data());
    std::byte* to = output_;
    for (std::size_t i = 0; i < count_; ++i, from += extent_, to += extent_) {
      std::memcpy(to, from, value_bytes_);
      std::memcpy(to + index_at, from + index_at, sizeof(int));
    }
  }

 private:
  std::byte* output_;
  std::size_t count_;
  std::size_t extent_;
  std::size_t value_bytes_;
  alignas(std::max_align_t) std::array<std::byte, 256> small_{};
  std::unique_ptr<std::byte[]> large_;
};

struct AnyReduction {
  const void* input;
  void* output;
  Count count;  // number of elements that each rank contributes
  Datatype type;
  Op op;
  Comm comm;
  const TypeFacts* facts = &no_type;

  void inspect(const Process& process, Communicator& communicator) {
    facts = &facts_of(process, communicator, type);
  }
  std::size_t bytes(const Communicator& /*communicator*/) const { return bytes_of(count, *facts); }
  std::optional<std::size_t> common_bytes(const Communicator& communicator) const {
    return bytes(communicator);
  }
  bool is_in_place() const { return input == in_place(); }
  bool has_plain_buffers(const Process& process, const Communicator& /*communicator*/) const {
    return facts->dense && kernel_of(process.operators(), *facts, op).has_value();
  }
  bool is_truncated(const Communicator& /*communicator*/) const { return false; }
  bool others_have_sent(const Communicator& /*communicator*/) const { return false; }
  // Returns the buffer that holds this rank's contribution.
  const void* brought() const { return is_in_place() ? output : input; }
  Part part_of_input() const { return {{const_cast<void*>(brought()), count, type}, facts}; }
  std::vector<Part> read(const Communicator& /*communicator*/) const {
    return is_in_place() ? std::vector<Part>() : std::vector<Part>{part_of_input()};
  }

 protected:
  Part part_of_output(Count gotten) const { return {{output, gotten, type}, facts}; }

  // Returns whether the arguments are valid on a rank whose result has `gotten` elements. If
  // `gotten` is 0, the output is not examined.
  bool is_valid(const Process& process, Count gotten) const {
    const bool has_output =
        gotten == 0 || (is_valid_buffer(output, gotten, *facts) && output != in_place());
    const bool has_input =
        !(is_in_place() && output == in_place()) && is_valid_buffer(brought(), count, *facts);
    return has_output && has_input && !process.operators().is_null(op);
  }
  // Returns whether the MPI rejects input and output buffers that are equal without MPI_IN_PLACE.
  bool is_refused_alias() const { return aliases_are_refused && input == output && count > 0; }

  // The result of this rank: whether there is one, and its number of elements.
  struct RankResult {
    bool is_result;
    Count count;
  };
  // Calls `combine` with the team, the buffers and the reduction, if the team supports this
  // reduction. Otherwise returns the fallback reason.
  template <class Combine>
  FallbackReason run_in_team(const Process& process, Communicator& communicator, RankResult gotten,
                             const Combine& combine) const {
    if (const memory::Reduction* latest = communicator.latest.reduction(type, op)) {
      if (!communicator.can_reduce(*latest)) return FallbackReason::no_reduction;
      combine_unpacked(communicator, gotten, *latest, combine);
      return FallbackReason::none;
    }
    const Reducer reducer(process.real(), process.types(), process.operators(), comm, type, *facts,
                          op);
    if (!reducer.can_reduce() || !communicator.can_reduce(reducer.reduction())) {
      return FallbackReason::no_reduction;
    }
    if (reducer.is_by_kernel()) communicator.latest.note(type, op, reducer.reduction());
    if (!reducer.is_packed()) {
      combine_unpacked(communicator, gotten, reducer.reduction(), combine);
      return FallbackReason::none;
    }
    ReductionParts parts(brought(), gotten.is_result ? output : nullptr);
    const Part result = part_of_output(gotten.count);
    parts.pack(process.real(), comm, part_of_input(), gotten.is_result ? &result : nullptr);
    communicator.with_team([&](auto& team) { combine(team, parts, reducer.reduction()); });
    parts.finish();
    return FallbackReason::none;
  }

 private:
  // Combines the program's buffers, without packing them. Elements with gaps are then pairs.
  template <class Combine>
  void combine_unpacked(Communicator& communicator, RankResult gotten,
                        const memory::Reduction& reduction, const Combine& combine) const {
    ReductionParts parts(brought(), gotten.is_result ? output : nullptr);
    const auto combine_parts = [&] {
      communicator.with_team([&](auto& team) { combine(team, parts, reduction); });
    };
    if (facts->dense || !gotten.is_result) return combine_parts();
    PairResult pairs(output, gotten.count, *facts);
    parts.replace_output(pairs.data());
    combine_parts();
    pairs.store();
  }
};

struct AllreduceCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::allreduce;

  RepeatableArguments repeatable(const Communicator& /*communicator*/) const {
    return mpi::repeatable(operation, input, output, count, type, op);
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

struct ReduceCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::reduce;
  int root;

  RepeatableArguments repeatable(const Communicator& communicator) const {
    const bool is_root = communicator.rank == root;
    return mpi::repeatable(operation, input, is_root ? output : nullptr, count, type, op, root);
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;

 private:
  bool is_wrong_at_root() const;
  FallbackReason take_part_and_discard(const Process& process, Communicator& communicator) const;
};

// Common part of MPI_Reduce_scatter and MPI_Reduce_scatter_block. inspect() computes `count`, the
// number of elements that each rank contributes; a rank's result is one block of them.
struct AnyReduceScatter : AnyReduction {
 protected:
  Written written_block(Count gotten) const;
  FallbackReason check_block_arguments(const Process& process, Count gotten) const;
  // `shares` contains the block of each rank, in elements.
  FallbackReason run_blocks(const Process& process, Communicator& communicator,
                            const node::Blocks& shares) const;
};

struct ReduceScatterBlockCall : AnyReduceScatter {
  static constexpr select::Operation operation = select::Operation::reduce_scatter_block;
  Count block;

  RepeatableArguments repeatable(const Communicator& /*communicator*/) const {
    return mpi::repeatable(operation, input, output, block, type, op);
  }
  // In place, the team reduces into a buffer of its own.
  bool has_plain_buffers(const Process& process, const Communicator& communicator) const {
    return !is_in_place() && AnyReduction::has_plain_buffers(process, communicator);
  }
  void inspect(const Process& process, Communicator& communicator);
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

struct ReduceScatterCall : AnyReduceScatter {
  static constexpr select::Operation operation = select::Operation::reduce_scatter;
  using Counts = ProgramNumbers<Count>;
  Counts blocks;

  void inspect(const Process& process, Communicator& communicator);
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

struct ScanCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::scan;

  RepeatableArguments repeatable(const Communicator& /*communicator*/) const {
    return mpi::repeatable(operation, input, output, count, type, op);
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

// Rank 0 gets no result: its output is examined only if it contains the input.
struct ExscanCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::exscan;

  RepeatableArguments repeatable(const Communicator& /*communicator*/) const {
    return mpi::repeatable(operation, input, output, count, type, op);
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

}  // namespace huddle::mpi
