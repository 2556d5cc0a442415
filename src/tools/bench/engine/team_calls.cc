// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/engine/team_calls.h"

#include <fmt/format.h>
#include <stdexcept>

#include "common/error.h"
#include "common/system.h"
#include "runtime/node/blocks.h"
#include "runtime/node/lines.h"
#include "runtime/select/algorithm.h"
#include "runtime/single_copy/cma.h"
#include "runtime/team/team_context.h"
#include "tools/doctor/siblings.h"

namespace huddle::bench {

bool ranks_may_read() {
  try {
    return doctor::probe_siblings({.allow_tracers = single_copy::yama_asks(System())})
        .reads_memory();
  } catch (const FailureError&) {
    return false;
  }
}

Forecast::Forecast(const machine::Machine& machine, const Binding& binding, bool may_read)
    : model(machine),
      locality(node::locality(machine.topology, binding.counted_for())),
      resources(select::team_resources(locality, model, team::ContextOptions().queue_bytes)),
      costs(model, locality) {
  if (!may_read) resources.refuse_paths("ranks may not read each other's memory here");
}

Forecast::Forecast(const machine::Machine& machine, const Binding& binding)
    : Forecast(machine, binding, ranks_may_read()) {}

std::vector<select::Candidate> Forecast::candidates(const select::Request& request) const {
  return select::candidates(request, locality, model, resources);
}

std::vector<select::Candidate> Forecast::best_of_each(const select::Request& request) const {
  std::vector<select::Candidate> best;
  for (const select::Algorithm& one : select::algorithms(request.operation, resources)) {
    std::vector<select::Candidate> plans;
    one.add(plans, costs, resources, request);
    if (!plans.empty()) best.push_back(select::cheapest(plans));
  }
  return best;
}

double Forecast::cheapest_ns(const select::Request& request) const {
  return select::cheapest(candidates(request)).ns;
}

namespace {

using select::Operation;

constexpr std::uint64_t added_each_time = 0x9E3779B97F4A7C15;

}  // namespace

std::string chosen(const RankContext& here, const select::Request& request) {
  const select::Explanation explanation = here.team->explain(request);
  if (explanation.candidates.empty()) return "single rank";
  const select::Candidate& best = select::chosen(explanation);
  return fmt::format("{}: {}", select::algorithm_name(best.plan), best.parameters);
}

std::string TeamBarrier::how(const RankContext& here) const {
  return plan_ ? std::string() : chosen(here, {.operation = Operation::barrier});
}

void RotatingBcast::run(const RankContext& here, int calls) {
  for (int call = 0; call < calls; ++call) {
    const int root = static_cast<int>(calls_++ % static_cast<std::uint64_t>(here.ranks));
    if (here.rank == root) value_ += added_each_time;
    here.team->bcast(&value_, sizeof value_, root);
  }
}

bool RotatingBcast::is_right(const RankContext&) { return value_ == calls_ * added_each_time; }

std::string RotatingBcast::how(const RankContext& here) {
  return chosen(here, {.operation = Operation::bcast, .bytes = sizeof value_});
}

namespace {

using node::Blocks;

std::size_t numbers_in(const CallData& at) { return at.bytes / sizeof(double); }

std::size_t call_bytes(const Calls& calls, int ranks) {
  const TestData test_data = test_data_of(select::regular_form(calls.operation));
  const bool in_blocks = test_data.input_in_blocks || test_data.output_in_blocks;
  return calls.bytes * (in_blocks ? static_cast<std::size_t>(ranks) : 1);
}

[[noreturn]] void refuse() { throw std::logic_error("not an operation for this implementation"); }

}  // namespace

std::size_t Calls::buffer_bytes(int ranks) const {
  return static_cast<std::size_t>(in_a_stretch - 1) * stride(ranks) + call_bytes(*this, ranks);
}

// Rounds up so that two calls never share a cache line.
std::size_t Calls::stride(int ranks) const {
  return round_up(call_bytes(*this, ranks), node::line_bytes);
}

select::Request request_of(const Calls& calls, int ranks) {
  return select::request_of(calls.operation, calls.bytes, ranks);
}

TeamOperation::TeamOperation(const Calls& calls, PlanOrChoice plan)
    : calls_(calls),
      test_data_(test_data_of(select::regular_form(calls.operation))),
      plan_(plan),
      sum_(memory::reduction(memory::Type::float64, memory::Operator::sum)) {}

CallData TeamOperation::call_data(const RankContext& here, int call) const {
  const std::size_t place = static_cast<std::size_t>(call) * stride_;
  const auto calls = static_cast<std::uint32_t>(calls_.in_a_stretch);
  return {.rank = here.rank,
          .ranks = here.ranks,
          .root = call % here.ranks,
          .bytes = calls_.bytes,
          .stamp = here.stamp * calls + static_cast<std::uint32_t>(call),
          .input = here.source.data() + place,
          .output = here.target.data() + place};
}

void TeamOperation::set_up(const RankContext& here) {
  stride_ = calls_.stride(here.ranks);
  if (plan_ && here.ranks > 1) bound_ = here.team->ready_by(*plan_);
}

void TeamOperation::prepare(const RankContext& here) {
  for (int call = 0; call < calls_.in_a_stretch; ++call) test_data_.fill(call_data(here, call));
}

void TeamOperation::run(const RankContext& here, int calls) {
  for (int number = 0; number < calls; ++number) {
    const CallData at = call_data(here, number);
    if (bound_) {
      here.team->run_by(*bound_, call(at));
    } else {
      run_chosen(*here.team, at);
    }
  }
}

bool TeamOperation::is_right(const RankContext& here) {
  bool right = true;
  for (int call = 0; call < calls_.in_a_stretch; ++call) {
    right = right && test_data_.is_right(call_data(here, call));
  }
  return right;
}

std::string TeamOperation::how(const RankContext& here) {
  if (plan_) return {};
  select::Request request = request_of(calls_, here.ranks);
  request.mapped = here.heap != nullptr;
  return chosen(here, request);
}

void TeamOperation::run_chosen(team::Team& team, const CallData& at) const {
  switch (calls_.operation) {
    case Operation::bcast:
      return team.bcast(at.output, at.bytes, at.root);
    case Operation::reduce:
      return team.reduce(at.input, at.output, numbers_in(at), sum_, at.root);
    case Operation::allreduce:
      return team.allreduce(at.input, at.output, numbers_in(at), sum_);
    case Operation::allgather:
      return team.allgather(at.input, at.output, at.bytes);
    case Operation::alltoall:
      return team.alltoall(at.input, at.output, at.bytes);
    case Operation::gather:
      return team.gather(at.input, at.output, at.bytes, at.root);
    case Operation::scatter:
      return team.scatter(at.input, at.output, at.bytes, at.root);
    case Operation::reduce_scatter_block:
      return team.reduce_scatter(at.input, at.output, Blocks::even(numbers_in(at)), sum_);
    case Operation::scan:
      return team.scan(at.input, at.output, numbers_in(at), sum_);
    case Operation::exscan:
      return team.exscan(at.input, at.output, numbers_in(at), sum_);
    case Operation::barrier:
    case Operation::allgatherv:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::reduce_scatter:
      break;
  }
  refuse();
}

select::Call TeamOperation::call(const CallData& at) const {
  const Operation operation = calls_.operation;
  if (operation == Operation::bcast) {
    return {.operation = operation,
            .input = at.output,
            .output = at.output,
            .count = at.bytes,
            .root = at.root};
  }
  if (select::reduces_to_blocks(operation)) {
    return {.operation = operation,
            .input = at.input,
            .output = at.output,
            .count = numbers_in(at) * static_cast<std::size_t>(at.ranks),
            .reduction = &sum_,
            .incoming = Blocks::even(numbers_in(at))};
  }
  if (select::reduces(operation)) {
    return {operation, at.input, at.output, numbers_in(at), &sum_, at.root};
  }
  if (!select::exchanges_blocks(operation)) refuse();
  select::Call call = select::exchange_of(operation, at.bytes, at.rank, at.root);
  call.input = at.input;
  call.output = at.output;
  return call;
}

}  // namespace huddle::bench
