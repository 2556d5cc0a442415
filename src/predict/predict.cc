// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "predict/predict.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "node/association.h"
#include "select/run_plan.h"

namespace huddle::predict {
namespace {

using node::Blocks;
using select::Call;
using select::Operation;
using world::Place;
using world::Region;
using world::model::ModelWorld;

// A call of the first rank's, and how much each has and wants.
struct Made {
  Call call;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::vector<node::Block> blocks = {};  // what a reduction to blocks refers to
};

constexpr int root = 0;

Made made(const select::Request& request, const memory::Reduction& reduction, int rank, int ranks) {
  const Operation operation = request.operation;
  const std::size_t bytes = request.bytes;
  const std::size_t all = bytes * static_cast<std::size_t>(ranks);
  const bool is_root = rank == root;
  const auto exchange = [&](const Blocks& outgoing, const Blocks& incoming) {
    return Call{.operation = operation,
                .count = bytes,
                .root = root,
                .outgoing = outgoing,
                .incoming = incoming};
  };
  const Blocks even = Blocks::even(bytes);
  const std::size_t count = bytes / request.element_bytes;
  switch (select::regular_form(operation)) {
    case Operation::barrier:
      return {Call{.operation = operation}};
    case Operation::bcast:
      return {Call{.operation = operation, .count = bytes, .root = root}, is_root ? bytes : 0,
              is_root ? 0 : bytes};
    case Operation::reduce:
      return {Call{.operation = operation, .count = count, .reduction = &reduction, .root = root},
              bytes, is_root ? bytes : 0};
    case Operation::allreduce:
    case Operation::scan:
    case Operation::exscan:
      return {Call{.operation = operation, .count = count, .reduction = &reduction, .root = root},
              bytes, bytes};
    case Operation::reduce_scatter_block: {
      Made result{Call{.operation = operation, .count = count, .reduction = &reduction}, bytes, 0};
      std::size_t at = 0;
      for (int one = 0; one < ranks; ++one) {
        const std::size_t end =
            count * static_cast<std::size_t>(one + 1) / static_cast<std::size_t>(ranks);
        result.blocks.push_back({static_cast<std::ptrdiff_t>(at), end - at});
        at = end;
      }
      result.call.incoming = Blocks::listed(result.blocks);
      const auto mine = static_cast<std::size_t>(rank);
      result.output_bytes = result.blocks[mine].bytes * request.element_bytes;
      return result;
    }
    case Operation::allgather:
      return {exchange(Blocks::only(rank, bytes), even), bytes, all};
    case Operation::alltoall:
      return {exchange(even, even), all, all};
    case Operation::gather:
      return {exchange(Blocks::only(root, bytes), is_root ? even : Blocks()), bytes,
              is_root ? all : 0};
    case Operation::scatter:
      return {exchange(is_root ? even : Blocks(), Blocks::only(root, bytes)), is_root ? all : 0,
              bytes};
    case Operation::allgatherv:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::reduce_scatter:
      break;  // regular_form() is none of these
  }
  return {};
}

// So often that every place of a queue has been used, and every slot where slots are taken in turn.
int calls_before(const select::Request& request, int ranks, std::size_t slots) {
  const std::size_t of_rank = std::max<std::size_t>(
      1, select::data_bytes(request, ranks) / static_cast<std::size_t>(ranks));
  return static_cast<int>(std::min(slots, select::usual_queue_bytes / of_rank) + 1);
}

}  // namespace

world::model::Outcome predict(const Question& question, const select::Plan& plan) {
  const int ranks = question.seats.ranks();
  const node::Association association(question.seats);
  const memory::Reduction reduction{nullptr, nullptr, question.request.element_bytes, true};
  const int before = calls_before(question.request, ranks,
                                  static_cast<std::size_t>(question.provision.inline_bcast.slots));
  world::model::Job job;
  job.pus = question.seats.pus;
  job.reachable = question.request.mapped;
  job.traced = question.traced;
  job.body = [&](ModelWorld& w) {
    const Made of_rank = made(question.request, reduction, w.rank(), ranks);
    std::visit(
        [&](const auto& of_plan) {
          auto protocol = select::protocol_for(
              of_plan, select::Setting{question.seats, question.provision, association, w.rank()});
          for (int call = 0; call <= before; ++call) {
            w.caller_wrote({Region::input, w.rank(), 0}, of_rank.input_bytes);
            w.caller_read({Region::output, w.rank(), 0}, of_rank.output_bytes);
            w.meet();
            select::run_plan(protocol, w, of_plan, of_rank.call);
          }
        },
        plan);
  };
  return world::model::run(job, question.model);
}

std::string trace_json(const world::model::Outcome& outcome) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  for (std::size_t rank = 0; rank < outcome.ns.size(); ++rank) {
    fmt::format_to(std::back_inserter(text),
                   "{}\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":{},"
                   "\"args\":{{\"name\":\"rank {}\"}}}}",
                   rank == 0 ? "" : ",", rank, rank);
  }
  for (const world::model::Span& span : outcome.spans) {
    const bool is_copy = span.kind == world::model::Span::Kind::copy;
    fmt::format_to(std::back_inserter(text),
                   ",\n{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{:.4f},"
                   "\"dur\":{:.4f},\"args\":{{\"{}\":{}}}}}",
                   is_copy ? "copy" : "wait", span.rank, span.begin_ns / 1000,
                   (span.end_ns - span.begin_ns) / 1000, is_copy ? "bytes" : "for_rank",
                   is_copy ? span.bytes : static_cast<std::size_t>(span.awaited_rank));
  }
  return text + "\n]}\n";
}

}  // namespace huddle::predict
