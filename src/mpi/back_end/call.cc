// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/back_end/call.h"

#include <vector>

#include "mpi/back_end/carry_out.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/mpi_names.h"
#include "mpi/back_end/reducer.h"

namespace huddle::mpi {

Route BarrierCall::objection(const Process& /*process*/,
                             const Communicator& /*communicator*/) const {
  return Route::huddle;
}

Route BarrierCall::take(const Process& /*process*/, Communicator& communicator) const {
  communicator.with_team([](auto& team) { team.barrier(); });
  return Route::huddle;
}

void BcastCall::look(const Process& process, Communicator& communicator) {
  facts = &facts_of(process, communicator, type);
}

std::size_t BcastCall::bytes(const Communicator& /*communicator*/) const {
  return bytes_of(count, *facts);
}

Route BcastCall::objection(const Process& /*process*/, const Communicator& communicator) const {
  const bool fine =
      communicator.has_rank(root) && is_plain(output, count, *facts) && output != in_place();
  return fine ? Route::huddle : Route::invalid_arguments;
}

Route BcastCall::take(const Process& process, Communicator& communicator) const {
  Dense data(process.real(), comm, part());
  const bool is_root = communicator.rank == root;
  if (is_root) data.fetch();
  communicator.with_team([&](auto& team) { team.bcast(data.data(), data.bytes(), root); });
  if (!is_root) data.store();
  return Route::huddle;
}

int BcastCall::native(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.bcast(output, static_cast<int>(count), type, root, comm)
                         : real.bcast_c(output, count, type, root, comm);
}

std::vector<Part> BcastCall::read(const Communicator& communicator) const {
  return communicator.rank == root ? std::vector<Part>{part()} : std::vector<Part>();
}

Written BcastCall::written(const Communicator& /*communicator*/) const {
  return {output, {part()}};
}

Route AllreduceCall::objection(const Process& process, const Communicator& /*communicator*/) const {
  const bool is_alias = input == output && count >= aliased_allreduce_from;
  const bool fine = is_right(process, count) && !is_alias;
  return fine ? Route::huddle : Route::invalid_arguments;
}

Route AllreduceCall::take(const Process& process, Communicator& communicator) const {
  const auto join = [this](auto& team, const ReductionParts& parts,
                           const memory::Reduction& reduction) {
    team.allreduce(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction);
  };
  return take_by(process, communicator, Gotten{true, count}, join);
}

int AllreduceCall::native(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.allreduce(input, output, static_cast<int>(count), type, op, comm)
                         : real.allreduce_c(input, output, count, type, op, comm);
}

Written AllreduceCall::written(const Communicator& /*communicator*/) const {
  return {output, {part_of_output(count)}};
}

Route ReduceCall::objection(const Process& process, const Communicator& communicator) const {
  const bool has_input = is_in_place() ? communicator.rank == root : is_plain(input, count, *facts);
  const bool fine = communicator.has_rank(root) && facts->is_type && count >= 0 && has_input &&
                    !process.operators().is_null(op);
  return fine ? Route::huddle : Route::invalid_arguments;
}

// Returns whether the root's output is invalid, which only the root can detect.
bool ReduceCall::is_wrong_at_root() const {
  const bool is_alias = input == output && count > 0;
  return is_alias || output == in_place() || !is_plain(output, count, *facts);
}

Route ReduceCall::take(const Process& process, Communicator& communicator) const {
  const bool is_root = communicator.rank == root;
  if (is_root && is_wrong_at_root()) return take_part_and_discard(process, communicator);
  const auto join = [this](auto& team, const ReductionParts& parts,
                           const memory::Reduction& reduction) {
    team.reduce(parts.input(), parts.output(), static_cast<std::size_t>(count), reduction, root);
  };
  return take_by(process, communicator, Gotten{is_root, count}, join);
}

// The other ranks cannot detect the error and have entered the call: the root takes part with
// temporary buffers and discards the result.
Route ReduceCall::take_part_and_discard(const Process& process, Communicator& communicator) const {
  const Reducer reducer(process.real(), process.types(), process.operators(), comm, type, *facts,
                        op);
  if (!reducer.can_join() || !communicator.can_join(reducer.reduction())) {
    return Route::no_reduction;
  }
  const memory::Reduction& reduction = reducer.reduction();
  const auto size = static_cast<std::size_t>(count);
  std::vector<std::byte> input_aside(size * reduction.element_bytes);
  std::vector<std::byte> output_aside(size * reduction.element_bytes);
  communicator.with_team([&](auto& team) {
    team.reduce(input_aside.data(), output_aside.data(), size, reduction, root);
  });
  return Route::invalid_arguments;
}

int ReduceCall::native(const UnderlyingMpi& real) const {
  return fits_int(count) ? real.reduce(input, output, static_cast<int>(count), type, op, root, comm)
                         : real.reduce_c(input, output, count, type, op, root, comm);
}

Written ReduceCall::written(const Communicator& communicator) const {
  if (communicator.rank != root || is_wrong_at_root()) return {};
  return {output, {part_of_output(count)}};
}

std::string_view described_type(const TypeFacts& facts) {
  return facts.element == nullptr ? "a derived datatype" : facts.element->name;
}

std::string described_data(const Written& written) {
  Count sum = 0;
  const Part* largest = nullptr;
  for (const Part& part : written.parts) {
    sum += part.place.count;
    if (largest == nullptr || part.bytes() > largest->bytes()) largest = &part;
  }
  if (largest == nullptr) return "nothing";
  const TypeFacts& facts = *largest->facts;
  return fmt::format("{} elements of {} ({} bytes, extent {})", sum, described_type(facts),
                     facts.bytes, facts.extent);
}

}  // namespace huddle::mpi

using namespace huddle::mpi;

HUDDLE_EXPORT int MPI_Barrier(Comm comm) { return carry_out(process(), BarrierCall{comm}); }

HUDDLE_EXPORT int MPI_Bcast(void* buffer, int count, Datatype type, int root, Comm comm) {
  return carry_out(process(), BcastCall{buffer, count, type, root, comm});
}

HUDDLE_EXPORT int MPI_Bcast_c(void* buffer, Count count, Datatype type, int root, Comm comm) {
  return carry_out(process(), BcastCall{buffer, count, type, root, comm});
}
