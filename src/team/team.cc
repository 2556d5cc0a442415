// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/team.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "select/size_class.h"
#include "world/peer_lost.h"

namespace huddle::team {
namespace {

using select::Operation;

// Of the types that huddle knows: any algorithm takes them, so that the choice depends on the size
// alone.
constexpr std::size_t largest_usual_element = 2 * sizeof(long double);

world::hardware::WaitingSettings waiting_settings(const machine::CostModel& model,
                                                  std::span<const Whereabouts> by_rank, int rank) {
  world::hardware::WaitingSettings settings;
  settings.crowded = is_crowded(by_rank, rank);
  settings.own_processor = has_own_processor(by_rank, rank);
  const double wake_ns = model.system_ns(machine::SystemCall::futex_wake);
  if (std::isfinite(wake_ns)) settings.wake_ns = wake_ns;
  return settings;
}

}  // namespace

Team::Team(Context& context, const Bootstrap& bootstrap)
    : rank_(bootstrap.rank),
      ranks_(bootstrap.ranks),
      settlement_(settle(bootstrap, context)),
      model_(settlement_.machine),
      seats_(node::seats(settlement_.machine.topology,
                         seats_of(settlement_.whereabouts, settlement_.machine.topology))),
      provision_(select::provision(seats_, model_, settlement_.queue_bytes)),
      ground_(context.peers(), bootstrap),
      waiting_(waiting_settings(model_, settlement_.whereabouts, rank_), context.progress(),
               [this] { ground_.check_members(); }),
      engine_(ground_, seats_, provision_, waiting_) {
  ground_.set_waiting(waiting_);
}

// What all ranks agree on may fail and be tried again; not where a member is lost meanwhile.
template <class Attempt>
auto Team::unless_lost(Attempt attempt) {
  if (lost_) throw world::PeerLost(*lost_);
  try {
    return attempt();
  } catch (const world::PeerLost& error) {
    lost_ = error.what();
    throw;
  }
}

// Nothing is to be looked up here: a barrier of two ranks takes less time than a few misses.
void Team::barrier() {
  if (ranks_ == 1) return;
  static constexpr Call call;
  if (!barrier_) barrier_ = unless_lost([this] { return choose({Operation::barrier, 0, 1}); });
  run_ready(*barrier_, call);
}

void Team::bcast(void* buffer, std::size_t bytes, int root) {
  run({.operation = Operation::bcast,
       .input = buffer,
       .output = buffer,
       .count = bytes,
       .root = root});
}

void Team::reduce(const void* input, void* output, std::size_t count,
                  const memory::Reduction& reduction, int root) {
  run({Operation::reduce, input, output, count, &reduction, root});
}

void Team::allreduce(const void* input, void* output, std::size_t count,
                     const memory::Reduction& reduction) {
  run({Operation::allreduce, input, output, count, &reduction, 0});
}

// Whatever ends a protocol in the middle, be it a lost member or an operator of the caller's that
// throws: flags may stand anywhere then, and nothing that this team does later could be trusted.
void Team::run_ready(const Ready& ready, const Call& call) {
  if (lost_) throw world::PeerLost(*lost_);
  try {
    ready(call);
  } catch (const std::exception& error) {
    lost_ = error.what();
    throw;
  } catch (...) {
    lost_ = "a collective was left in the middle";
    throw;
  }
}

void Team::run(const Call& call) {
  if (call.count == 0) return;
  if (ranks_ == 1) return run_alone(call);
  run_ready(*unless_lost([&] { return &ready_for(call); }), call);
}

void Team::run_by(const select::Plan& plan, const Call& call) {
  if (ranks_ == 1) return run_alone(call);
  run_ready(unless_lost([&] { return engine_.ready(plan); }), call);
}

void Team::run_alone(const Call& call) {
  switch (call.operation) {
    case Operation::barrier:
    case Operation::bcast:
      return;
    case Operation::reduce:
    case Operation::allreduce:
      std::memmove(call.output, call.input, call.count * call.element_bytes());
      return;
  }
}

const Ready& Team::ready_for(const Call& call) {
  const std::size_t bytes = call.count * call.element_bytes();
  if (call.element_bytes() > largest_usual_element) return ready_for_unusual(call);
  // Programs make the same call again and again.
  Latest& latest = latest_[static_cast<std::size_t>(call.operation)];
  if (latest.ready != nullptr && latest.bytes == bytes) return *latest.ready;
  auto& of_operation = chosen_[static_cast<std::size_t>(call.operation)];
  if (of_operation.empty()) of_operation.resize(select::size_classes);
  const std::size_t size_class = select::size_class_of(bytes);
  std::optional<Ready>& slot = of_operation[size_class];
  if (!slot) {
    slot = choose({call.operation, select::largest_in(size_class), call.element_bytes()});
  }
  latest = {&*slot, bytes};
  return *slot;
}

// The last such call is remembered: who reduces large elements does it again and again.
const Ready& Team::ready_for_unusual(const Call& call) {
  const std::size_t bytes = call.count * call.element_bytes();
  const select::Request request{call.operation, select::largest_in(select::size_class_of(bytes)),
                                call.element_bytes()};
  if (!unusual_ || unusual_request_ != request) {
    unusual_ = choose(request);
    unusual_request_ = request;
  }
  return *unusual_;
}

Ready Team::choose(const select::Request& request) {
  const auto candidates = select::candidates(request, seats_, model_, provision_);
  if (candidates.empty()) {
    throw UsageError(
        fmt::format("{} of elements of {} bytes: they are too large for this team's "
                    "memory; make larger queues, or smaller elements",
                    name(request.operation), request.element_bytes));
  }
  return engine_.ready(select::cheapest(candidates).plan);
}

select::Explanation Team::explain(const select::Request& request) const {
  return select::explain(request, seats_, model_, provision_);
}

}  // namespace huddle::team
