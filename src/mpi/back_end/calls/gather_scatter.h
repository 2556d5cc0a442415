// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The calls MPI_Gather, MPI_Gatherv, MPI_Scatter and MPI_Scatterv.
#pragma once

#include <optional>

#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// Common part of MPI_Gather and MPI_Gatherv. The output is significant on the root only; the input
// is not significant on a root that uses MPI_IN_PLACE.
template <class Output>
struct AnyGather {
  BufferArgument input;
  Output output;
  int root;
  Comm comm;

  void inspect(const Process& process, Communicator& communicator) {
    if (!input.is_in_place()) input.inspect(process, communicator);
    if (is_root(communicator)) output.inspect(process, communicator);
  }

  // Errors in the root's output are left to run(), because the other ranks have entered the call.
  FallbackReason check_arguments(const Process& /*process*/,
                                 const Communicator& communicator) const {
    const bool is_valid = input.is_in_place()
                              ? is_root(communicator) && !is_wrong_at_root(communicator)
                              : input.is_valid(communicator.ranks);
    return communicator.has_rank(root) && is_valid ? FallbackReason::none
                                                   : FallbackReason::invalid_arguments;
  }

  bool is_in_place() const { return input.is_in_place(); }
  // Returns whether the other ranks may have sent their data by the time this rank detects an
  // error.
  bool others_have_sent(const Communicator& communicator) const { return is_root(communicator); }

  // Returns whether the root's own block is too large for its place in the output.
  bool is_truncated(const Communicator& communicator) const {
    return is_root(communicator) && !input.is_in_place() &&
           input.bytes() > output.block(root).bytes();
  }

  std::vector<Part> read(const Communicator& /*communicator*/) const {
    return input.is_in_place() ? std::vector<Part>() : std::vector<Part>{input.block(0)};
  }
  Written written(const Communicator& communicator) const {
    if (!is_root(communicator) || is_wrong_at_root(communicator)) return {};
    return {output.address, all_blocks(output, communicator.ranks)};
  }

 protected:
  bool is_root(const Communicator& communicator) const { return communicator.rank == root; }
  bool is_wrong_at_root(const Communicator& communicator) const {
    return is_root(communicator) && (output.is_in_place() || !output.is_valid(communicator.ranks));
  }
  // Returns the root's fallback reason. Called after the root has taken part in the call, so that
  // the other ranks can continue.
  // Requires: this rank is the root and its output is valid.
  FallbackReason verdict_of_root() const {
    const bool is_refused =
        !input.is_in_place() && is_refused_block(input.block(0), output.block(root));
    return is_refused ? FallbackReason::invalid_arguments : FallbackReason::none;
  }
  Part given() const { return input.is_in_place() ? output.block(root) : input.block(0); }
};

struct GatherCall : AnyGather<BufferArgument> {
  static constexpr select::Operation operation = select::Operation::gather;

  RepeatableArguments repeatable(const Communicator& communicator) const {
    return repeatable_blocks(operation, input, is_root(communicator) ? output : no_buffer, root);
  }
  bool has_plain_buffers(const Process& /*process*/, const Communicator& communicator) const {
    return is_root(communicator) ? are_plain(input, output) : is_plain(input);
  }
  std::size_t bytes(const Communicator& /*communicator*/) const {
    return (input.is_in_place() ? output : input).bytes();
  }
  std::optional<std::size_t> common_bytes(const Communicator& communicator) const {
    return bytes(communicator);
  }
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;

 private:
  FallbackReason take_part_and_discard(const Process& process, Communicator& communicator) const;
};

struct GathervCall : AnyGather<VectorBufferArgument> {
  static constexpr select::Operation operation = select::Operation::gatherv;

  std::size_t bytes(const Communicator& communicator) const;
  std::optional<std::size_t> common_bytes(const Communicator& /*communicator*/) const {
    return std::nullopt;
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
};

// Common part of MPI_Scatter and MPI_Scatterv. The input is significant on the root only; the
// output is not significant on a root that uses MPI_IN_PLACE. A root whose input is invalid sends
// nothing, and the other ranks wait for it as they would in the MPI.
template <class Input>
struct AnyScatter {
  Input input;
  BufferArgument output;
  int root;
  Comm comm;

  void inspect(const Process& process, Communicator& communicator) {
    if (is_root(communicator)) input.inspect(process, communicator);
    if (!output.is_in_place()) output.inspect(process, communicator);
  }

  FallbackReason check_arguments(const Process& /*process*/,
                                 const Communicator& communicator) const {
    const bool has_input =
        !is_root(communicator) || (!input.is_in_place() && input.is_valid(communicator.ranks));
    const bool has_output =
        output.is_in_place() ? is_root(communicator) : output.is_valid(communicator.ranks);
    const bool fine = communicator.has_rank(root) && has_input && has_output;
    return fine && !is_alias_at_root(communicator) ? FallbackReason::none
                                                   : FallbackReason::invalid_arguments;
  }

  bool is_in_place() const { return output.is_in_place(); }
  bool others_have_sent(const Communicator& /*communicator*/) const { return false; }
  // Returns whether the root's own block is larger than its output.
  bool is_truncated(const Communicator& communicator) const {
    return is_root(communicator) && !output.is_in_place() &&
           input.block(root).bytes() > output.bytes();
  }

  std::vector<Part> read(const Communicator& communicator) const {
    return is_root(communicator) ? all_blocks(input, communicator.ranks) : std::vector<Part>();
  }
  Written written(const Communicator& /*communicator*/) const {
    if (output.is_in_place()) return {};
    return {output.address, {output.block(0)}};
  }

 protected:
  bool is_root(const Communicator& communicator) const { return communicator.rank == root; }

 private:
  // Requires: input and output are valid.
  bool is_alias_at_root(const Communicator& communicator) const {
    return is_root(communicator) && !output.is_in_place() &&
           is_refused_block(input.block(root), output.block(0));
  }
};

struct ScatterCall : AnyScatter<BufferArgument> {
  static constexpr select::Operation operation = select::Operation::scatter;

  RepeatableArguments repeatable(const Communicator& communicator) const {
    return repeatable_blocks(operation, is_root(communicator) ? input : no_buffer, output, root);
  }
  bool has_plain_buffers(const Process& /*process*/, const Communicator& communicator) const {
    return is_root(communicator) ? are_plain(output, input) : is_plain(output);
  }
  std::size_t bytes(const Communicator& /*communicator*/) const {
    return (output.is_in_place() ? input : output).bytes();
  }
  std::optional<std::size_t> common_bytes(const Communicator& communicator) const {
    return bytes(communicator);
  }
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
};

struct ScattervCall : AnyScatter<VectorBufferArgument> {
  static constexpr select::Operation operation = select::Operation::scatterv;

  std::size_t bytes(const Communicator& communicator) const;
  std::optional<std::size_t> common_bytes(const Communicator& /*communicator*/) const {
    return std::nullopt;
  }
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
};

}  // namespace huddle::mpi
