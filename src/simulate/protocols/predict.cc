// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/protocols/predict.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "runtime/node/reduction_order.h"
#include "runtime/select/registration.h"

namespace huddle::protocols {
namespace {

using context::Region;
using node::Blocks;
using protocols::model::SimulatedContext;
using select::Call;
using select::Operation;

// A rank's call and the sizes of its data.
struct Made {
  Call call;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::vector<node::Block> blocks = {};  // referenced by the call of a reduction to blocks
};

// Cuts the elements of a reduction into one block per rank of almost equal size.
std::vector<node::Block> cut_in_blocks(std::size_t count, int ranks) {
  std::vector<node::Block> blocks;
  std::size_t at = 0;
  for (int one = 0; one < ranks; ++one) {
    const std::size_t end =
        count * static_cast<std::size_t>(one + 1) / static_cast<std::size_t>(ranks);
    blocks.push_back({static_cast<std::ptrdiff_t>(at), end - at});
    at = end;
  }
  return blocks;
}

Made made(const select::Request& request, const memory::Reduction& reduction, int rank, int ranks,
          int root) {
  const Operation operation = request.operation;
  const std::size_t count = request.bytes / request.element_bytes;
  const select::OwnData data = select::own_data(request, rank == root, ranks);
  Made result{Call{.operation = operation, .root = root}, static_cast<std::size_t>(data.in_bytes),
              static_cast<std::size_t>(data.out_bytes)};
  if (operation == Operation::bcast) result.call.count = request.bytes;
  if (select::exchanges_blocks(operation)) {
    result.call = select::exchange_of(operation, request.bytes, rank, root);
  }
  if (select::reduces(operation)) {
    result.call.count = count;
    result.call.reduction = &reduction;
  }
  if (select::reduces_to_blocks(operation)) {
    result.blocks = cut_in_blocks(count, ranks);
    result.call.incoming = Blocks::listed(result.blocks);
    result.output_bytes =
        result.blocks[static_cast<std::size_t>(rank)].bytes * request.element_bytes;
  }
  return result;
}

// Returns the number of calls after which every slot of a queue, and every slot of those used in
// turn, has been used.
int calls_before(const select::Request& request, int ranks, std::size_t slots) {
  const std::size_t of_rank = std::max<std::size_t>(
      1, select::data_bytes(request, ranks) / static_cast<std::size_t>(ranks));
  return static_cast<int>(std::min(slots, select::usual_queue_bytes / of_rank) + 1);
}

// Converts the simulated time of the current call into the fraction of all calls that is complete.
// A call is expected to last as long as the previous one, the first as long as the caller predicts.
class CallProgress {
 public:
  CallProgress(std::function<void(double share)> report, int calls, double expected_ns)
      : report_(std::move(report)), calls_(calls), expected_ns_(expected_ns) {}

  void operator()(int calls_begun, double ns) {
    if (calls_begun == 0) return;
    if (calls_begun != calls_begun_ && calls_begun_ > 0) expected_ns_ = ns_;
    calls_begun_ = calls_begun;
    ns_ = ns;
    const double of_call = expected_ns_ > 0 ? std::min(1.0, ns / expected_ns_) : 0;
    share_ = std::max(share_, (calls_begun - 1 + of_call) / calls_);
    report_(share_);
  }

 private:
  std::function<void(double share)> report_;
  int calls_;
  double expected_ns_;
  int calls_begun_ = 0;
  double ns_ = 0;
  double share_ = 0;
};

}  // namespace

protocols::model::Outcome predict(const Question& question, const select::Plan& plan) {
  const int ranks = question.locality.ranks();
  const node::ReductionOrder reduction_order(question.locality);
  const memory::Reduction reduction{nullptr, nullptr, question.request.element_bytes, true};
  const int before = calls_before(question.request, ranks,
                                  static_cast<std::size_t>(question.resources.inline_bcast.slots));
  protocols::model::Job job;
  job.pus = question.locality.pus;
  job.reachable = question.request.mapped;
  if (select::is_direct(plan)) job.path = question.resources.paths[select::path_of(plan)].name;
  job.traced = question.traced;
  if (question.progress) {
    job.progress = CallProgress(question.progress, before + 1, question.expected_ns);
  }
  job.body = [&](SimulatedContext& ctx) {
    const Made of_rank = made(question.request, reduction, ctx.rank(), ranks, question.root);
    std::visit(
        [&]<class Plan>(const Plan& of_plan) {
          using Algorithm = select::Registration<Plan>;
          auto protocol = Algorithm::protocol(
              of_plan, {question.locality, question.resources, reduction_order, ctx.rank()});
          for (int call = 0; call <= before; ++call) {
            ctx.caller_wrote({Region::input, ctx.rank(), 0}, of_rank.input_bytes);
            ctx.caller_read({Region::output, ctx.rank(), 0}, of_rank.output_bytes);
            ctx.meet();
            Algorithm::run(protocol, ctx, of_plan, of_rank.call);
          }
        },
        plan);
  };
  return protocols::model::run(job, question.model);
}

std::string trace_json(const protocols::model::Outcome& outcome) {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  for (std::size_t rank = 0; rank < outcome.ns.size(); ++rank) {
    fmt::format_to(std::back_inserter(text),
                   "{}\n{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":{},"
                   "\"args\":{{\"name\":\"rank {}\"}}}}",
                   rank == 0 ? "" : ",", rank, rank);
  }
  for (const protocols::model::Span& span : outcome.spans) {
    const bool is_copy = span.kind == protocols::model::Span::Kind::copy;
    fmt::format_to(std::back_inserter(text),
                   ",\n{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":0,\"tid\":{},\"ts\":{:.4f},"
                   "\"dur\":{:.4f},\"args\":{{\"{}\":{}}}}}",
                   is_copy ? "copy" : "wait", span.rank, span.begin_ns / 1000,
                   (span.end_ns - span.begin_ns) / 1000, is_copy ? "bytes" : "for_rank",
                   is_copy ? span.bytes : static_cast<std::size_t>(span.awaited_rank));
  }
  return text + "\n]}\n";
}

}  // namespace huddle::protocols
