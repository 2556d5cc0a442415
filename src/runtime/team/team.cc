// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/team.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/floating_point.h"
#include "runtime/context/errors.h"
#include "runtime/select/operation.h"
#include "runtime/team/group_configuration.h"

namespace huddle::team {
namespace {

using select::Operation;

// Size of the largest element of a built-in type. Every algorithm supports such elements, so that
// the choice depends only on the size of the call.
constexpr std::size_t largest_usual_element = 2 * sizeof(long double);

// Size of the largest buffer for results that a team keeps.
constexpr std::size_t most_kept_aside_bytes = std::size_t{16} << 20;

context::WaitingSettings waiting_settings(const machine::CostModel& model,
                                          std::span<const CpuBinding> by_rank, int rank,
                                          const Context& context) {
  context::WaitingSettings settings;
  const CpuBinding& mine = by_rank[static_cast<std::size_t>(rank)];
  const std::size_t processors = context.machine().topology.pus.cpus().size();
  settings.oversubscribed =
      is_crowded(by_rank, rank) || is_crowded_by_all(mine, context.processes_here(), processors);
  settings.has_exclusive_core = has_own_processor(by_rank, rank);
  const double wake_ns = model.system_ns(machine::SystemCall::futex_wake);
  if (std::isfinite(wake_ns)) settings.wake_ns = wake_ns;
  return settings;
}

// Returns whether this block of the buffer starts at that address.
bool lies_at(const void* address, const void* buffer, const node::Block& block) {
  // The buffer may be null if the call moves no data.
  return buffer != nullptr && address == static_cast<const std::byte*>(buffer) + block.offset;
}

// Copies the rank's own block from its input to its output.
void move_own(const Call& call, int rank) {
  const node::Block from = call.outgoing.of(rank);
  const node::Block to = call.incoming.of(rank);
  if (call.in_place || from.bytes == 0) return;
  std::memmove(static_cast<std::byte*>(call.output) + to.offset,
               static_cast<const std::byte*>(call.input) + from.offset, from.bytes);
}

// Returns whether peers read this rank's input in single-copy algorithms.
bool shows_input(const Call& call, int rank) {
  const bool is_root = rank == call.root;
  if (select::gathers_at_root(call.operation)) return !is_root;
  const select::Amount in = select::traits_of(call.operation).in;
  return select::on_rank(in, 1, is_root, 1) > 0;
}

// Returns whether peers may access this rank's output in single-copy algorithms. In a gather the
// root may read the inputs or the peers may write its output, so both must be mapped.
bool shows_output(const Call& call, int rank) {
  const bool is_to_root =
      call.operation == Operation::reduce || call.operation == Operation::gather;
  return call.operation == Operation::allreduce || (is_to_root && rank == call.root);
}

// Returns the request that determines the choice for a call and all others of its size class.
select::Request request_for(const Call& call, bool root_moved) {
  const std::size_t bytes = call.count * call.element_bytes();
  return {.operation = call.operation,
          .bytes = select::largest_in(select::size_class_of(bytes)),
          .element_bytes = call.element_bytes(),
          .root_moved = root_moved};
}

CallClass class_of(const select::Request& request) {
  return {request.operation, request.bytes, request.root_moved};
}

// Avoids a copy, which would allocate memory; the context outlives its teams.
context::ProgressCallback by_reference(const context::ProgressCallback& progress) {
  if (!progress) return {};
  return std::cref(progress);
}

}  // namespace

Team::Team(Context& context, const Bootstrap& bootstrap)
    : Team(context, bootstrap, prepared(context, bootstrap)) {}

Team::Team(Context& context, const Bootstrap& bootstrap, std::unique_ptr<Preparation> preparation)
    : Team(context, bootstrap,
           agreed_group_configuration(context, bootstrap, preparation->agreement), nullptr,
           std::move(preparation->joining)) {}

Team::Team(Context& context, const Bootstrap& bootstrap,
           const std::shared_ptr<GroupConfiguration>& group)
    : Team(context, bootstrap, group, group->decisions().latest()) {}

Team::Team(Context& context, const Bootstrap& bootstrap,
           const std::shared_ptr<GroupConfiguration>& group, const DecisionBook::Edition& known)
    : Team(context, bootstrap, group, known.decisions,
           TeamSetUp(context.peers(), bootstrap, *group, known.digest)) {}

// Nothing may fail after team_memory_ is constructed, because the peers then rely on this rank.
Team::Team(Context& context, const Bootstrap& bootstrap,
           const std::shared_ptr<GroupConfiguration>& group, std::shared_ptr<const Decisions> known,
           TeamSetUp&& joining)
    : rank_(bootstrap.rank),
      ranks_(bootstrap.ranks),
      team_memory_(context.peers(), bootstrap, joining, [&] { selection_inputs_.emplace(group); }),
      call_records_(team_memory_.call_records()),
      waiting_(
          waiting_settings(selection_inputs_->model(), selection_inputs_->cpu_bindings(), rank_,
                           context),
          by_reference(context.progress()),
          [this] {
            team_memory_.check_calls();
            team_memory_.check_members();
          },
          [this](int rank) { return team_memory_.is_gone(rank); }),
      peer_access_(context.peers(), context.paths(), context.heap(), *selection_inputs_),
      engine_(team_memory_, *selection_inputs_, waiting_, peer_access_),
      fence_(memory::OneSidedFence::Among::processes, selection_inputs_->has_one_sided_fence()),
      tuning_history_(context.tuning_history()) {
  team_memory_.set_waiting(waiting_);
  for (const Operation operation : select::operations) {
    if (selection_inputs_->resources().forcing.concerns(operation)) tuner_.exclude(operation);
  }
  if (context.trials_after()) tuner_.begin_trials_after(*context.trials_after());
  if (joining.have_same_decisions()) known_ = std::move(known);
  if (group->peers().empty()) group->set_peers(joining.take_reached());
}

// Runs `attempt` unless the team is lost. An Error other than PeerLost and CallsDiffer is thrown on
// all ranks, and the attempt can be repeated. Any other exception occurs on this rank only, so this
// rank abandons the team.
template <class Attempt>
auto Team::unless_lost(Attempt attempt) {
  if (lost_.is_any()) throw context::PeerLost(lost_.text());
  try {
    return attempt();
  } catch (const context::PeerLost& error) {
    lose(error.what());
    throw;
  } catch (const context::CallsDiffer& error) {
    fail_because_calls_differ(error);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    abandon(error.what());
    throw;
  } catch (...) {
    abandon("a callback threw an exception that is not a std::exception");
    throw;
  }
}

void Team::lose(std::string_view why) { lost_ = RankError(why); }

void Team::abandon(std::string_view why) {
  if (lost_.is_any()) return;
  lose(why);
  team_memory_.abandon(lost_);
}

// Avoids any lookup, because a barrier of two ranks takes less time than a few cache misses.
void Team::barrier() {
  if (ranks_ == 1) return;
  static constexpr Call call;
  if (!barrier_) {
    begin_call(call);
    barrier_ = unless_lost([this] { return choose({Operation::barrier, 0, 1}, [] {}); });
  } else {
    call_records_.note_barrier();
  }
  last_run_ = &barrier_->choice.usual;
  if (turn_.by == Implementation::alternative) {
    last_run_ = unless_lost([this] {
      return &alternative_to(*barrier_, {Operation::barrier, 0, 1});
    });
  }
  last_forced_ = barrier_->forced;
  last_expected_ = barrier_->expected;
  run_bound(*last_run_, call);
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

void Team::allgather(const void* input, void* output, std::size_t bytes) {
  gather_to_all(Operation::allgather, input, output, node::Blocks::even(bytes), bytes);
}

void Team::allgatherv(const void* input, void* output, const node::Blocks& blocks) {
  gather_to_all(Operation::allgatherv, input, output, blocks, blocks.largest(ranks_));
}

void Team::gather_to_all(Operation operation, const void* input, void* output,
                         const node::Blocks& blocks, std::size_t largest) {
  const node::Block own = blocks.of(rank_);
  run({.operation = operation,
       .input = input,
       .output = output,
       .count = largest,
       .outgoing = node::Blocks::only(rank_, own.bytes),
       .incoming = blocks,
       .in_place = lies_at(input, output, own)});
}

void Team::alltoall(const void* input, void* output, std::size_t bytes) {
  run({.operation = Operation::alltoall,
       .input = input,
       .output = output,
       .count = bytes,
       .outgoing = node::Blocks::even(bytes),
       .incoming = node::Blocks::even(bytes),
       .in_place = input == output});
}

void Team::alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                     const node::Blocks& incoming) {
  run({.operation = Operation::alltoallv,
       .input = input,
       .output = output,
       .outgoing = outgoing,
       .incoming = incoming,
       .in_place = input == output});
}

void Team::gather(const void* input, void* output, std::size_t bytes, int root) {
  gather_to_root(Operation::gather, input, bytes, output, node::Blocks::even(bytes), root);
}

void Team::gatherv(const void* input, std::size_t bytes, void* output, const node::Blocks& blocks,
                   int root) {
  gather_to_root(Operation::gatherv, input, bytes, output, blocks, root);
}

void Team::gather_to_root(Operation operation, const void* input, std::size_t bytes, void* output,
                          const node::Blocks& blocks, int root) {
  const bool is_root = rank_ == root;
  run({.operation = operation,
       .input = input,
       .output = output,
       .count = has_pairwise_sizes(operation) ? 0 : bytes,
       .root = root,
       .outgoing = node::Blocks::only(root, bytes),
       .incoming = is_root ? blocks : node::Blocks(),
       .in_place = is_root && lies_at(input, output, blocks.of(root))});
}

void Team::scatter(const void* input, void* output, std::size_t bytes, int root) {
  scatter_from_root(Operation::scatter, input, node::Blocks::even(bytes), output, bytes, root);
}

void Team::scatterv(const void* input, const node::Blocks& blocks, void* output, std::size_t bytes,
                    int root) {
  scatter_from_root(Operation::scatterv, input, blocks, output, bytes, root);
}

void Team::scatter_from_root(Operation operation, const void* input, const node::Blocks& blocks,
                             void* output, std::size_t bytes, int root) {
  const bool is_root = rank_ == root;
  run({.operation = operation,
       .input = input,
       .output = output,
       .count = has_pairwise_sizes(operation) ? 0 : bytes,
       .root = root,
       .outgoing = is_root ? blocks : node::Blocks(),
       .incoming = node::Blocks::only(root, bytes),
       .in_place = is_root && lies_at(output, input, blocks.of(root))});
}

// In place, the result goes to another buffer, because peers may still read the input. A small
// buffer is kept, because the pages of a new one would have to be mapped in each call.
void Team::reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                          const memory::Reduction& reduction) {
  const std::size_t own_bytes = blocks.of(rank_).bytes * reduction.element_bytes;
  const bool in_place = input == output;
  if (in_place && own_bytes > aside_bytes_) {
    aside_.reset();
    aside_bytes_ = 0;
    unless_lost([&] { aside_ = std::make_unique_for_overwrite<std::byte[]>(own_bytes); });
    aside_bytes_ = own_bytes;
  }
  run({.operation = Operation::reduce_scatter,
       .input = input,
       .output = in_place ? aside_.get() : output,
       .count = blocks.total(ranks_),
       .reduction = &reduction,
       .incoming = blocks});
  if (in_place && own_bytes > 0) std::memcpy(output, aside_.get(), own_bytes);
  if (aside_bytes_ > most_kept_aside_bytes) {
    aside_.reset();
    aside_bytes_ = 0;
  }
}

void Team::scan(const void* input, void* output, std::size_t count,
                const memory::Reduction& reduction) {
  run({Operation::scan, input, output, count, &reduction, 0});
}

void Team::exscan(const void* input, void* output, std::size_t count,
                  const memory::Reduction& reduction) {
  run({Operation::exscan, input, output, count, &reduction, 0});
}

// An exception that interrupts a protocol, such as a lost peer or one from a user-defined operator,
// makes the team unusable, because its flags are left in an unknown state. PathFailed and
// SizesDiffer leave them consistent.
void Team::run_bound(const BoundPlan& bound, const Call& call) {
  if (lost_.is_any()) throw context::PeerLost(lost_.text());
  try {
    bound(call);
  } catch (const context::PathFailed& error) {
    go_on_without(select::path_of(bound.plan()), error.what());
    throw;
  } catch (const context::SizesDiffer&) {
    throw;
  } catch (const context::PeerLost& error) {
    lose(error.what());
    throw;
  } catch (const context::CallsDiffer& error) {
    fail_because_calls_differ(error);
  } catch (const std::exception& error) {
    abandon(error.what());
    throw;
  } catch (...) {
    abandon(
        "a collective call was not completed, because its thread ended or a callback threw an "
        "exception");
    throw;
  }
}

// Abandons the team. Throws a more detailed error if the call records provide one, otherwise
// `error`.
void Team::fail_because_calls_differ(const context::CallsDiffer& error) {
  try {
    team_memory_.check_calls();
  } catch (const context::CallsDiffer& detailed) {
    abandon(detailed.what());
    throw;
  }
  abandon(error.what());
  throw error;
}

// Compares the call records after every `most_ahead` calls that move no data. Such calls do not
// wait for other ranks, so a rank could make many of them while its peers wait in calls that do
// move data; the records of the calls that differ would then be overwritten.
void Team::compare_idle_calls() {
  constexpr std::uint32_t most_ahead = CallRecords::kept / 4;
  ++idle_calls_;
  if (idle_calls_ % most_ahead != 0) return;
  unless_lost([this] {
    const std::uint32_t calls = call_records_.calls();
    if (calls > most_ahead) team_memory_.await_calls(calls - most_ahead);
    team_memory_.check_calls();
  });
}

void Team::note_enclosing_call(const CallArguments& arguments, bool is_idle) {
  if (ranks_ == 1) return;
  enclosing_call_ = call_records_.note(arguments);
  if (is_idle) compare_idle_calls();
}

void Team::run(const Call& call) {
  if (keeps_next_call_) [[unlikely]] {
    keeps_next_call_ = false;
    kept_call_ = call;
  }
  const bool is_idle = call.count == 0 && !has_pairwise_sizes(call.operation);
  if (ranks_ == 1) return is_idle ? void() : run_alone(call);
  begin_call(call);  // even if it is idle, because on another rank it may move data
  if (is_idle) {
    if (lost_.is_any()) throw context::PeerLost(lost_.text());
    return compare_idle_calls();
  }
  memory::HeapUse in_use(peer_access_.heap());
  last_run_ = unless_lost([&] { return &bound_plan_for(call, in_use); });
  run_bound(*last_run_, call);
}

void Team::run_by(const select::Plan& plan, const Call& call) {
  if (ranks_ == 1) return run_alone(call);
  begin_call(call);
  run_by(ready_by(plan), call);
}

BoundPlan Team::ready_by(const select::Plan& plan) {
  return unless_lost([&] {
    if (!may_run(plan, true) && !may_run(plan, false))
      throw FailureError(selection_inputs_->resources().paths[select::path_of(plan)].refusal);
    return engine_.bound(plan);
  });
}

void Team::run_alone(const Call& call) {
  if (!select::reduces(call.operation)) return move_own(call, 0);
  if (call.operation == Operation::exscan) return;
  std::memmove(call.output, call.input, call.count * call.element_bytes());
}

// Applications repeat the same call, so the last choice of each operation is looked up inline.
inline Team::Chosen& Team::chosen_for(const Call& call) {
  const std::size_t element_bytes = call.element_bytes();
  const std::size_t bytes = call.count * element_bytes;
  const bool root_moved = call.operation == Operation::bcast && note_root(call.root);
  const Latest& latest = latest_[static_cast<std::size_t>(call.operation)];
  if (latest.chosen != nullptr && latest.bytes == bytes && latest.root_moved == root_moved &&
      element_bytes <= largest_usual_element) {
    return *latest.chosen;
  }
  return chosen_for_new(call, bytes, root_moved);
}

// The first call in which peers may map the heap determines that itself, and begins to use the
// heap.
const BoundPlan& Team::bound_plan_for(const Call& call, memory::HeapUse& in_use) {
  Chosen& chosen = chosen_for(call);
  last_forced_ = chosen.forced;
  if (turn_.by == Implementation::alternative) {
    const std::optional<BoundPlan>& known = chosen.bound_alternatives[turn_.which];
    if (known && chosen.has_alternative(turn_)) return *known;
    return alternative_to(chosen, request_for(call, false));
  }
  const auto& [usual, where_mapped] = chosen.choice;
  if (where_mapped) in_use.begin(peer_access_.heap());
  last_expected_ = chosen.expected;
  if (!where_mapped || !all_have_mapped(call)) return usual;
  last_expected_.call_ns = 0;
  return *where_mapped;
}

Team::Chosen& Team::chosen_for_new(const Call& call, std::size_t bytes, bool root_moved) {
  const select::Request request = request_for(call, root_moved);
  if (call.element_bytes() > largest_usual_element) return chosen_for_unusual(request);
  auto known = chosen_.find(class_of(request));
  if (known == chosen_.end() || !known->second) {
    const Chosen chosen =
        choose(request, [&] { known = chosen_.try_emplace(class_of(request)).first; });
    known->second = chosen;
  }
  latest_[static_cast<std::size_t>(call.operation)] = {&*known->second, bytes, root_moved};
  return *known->second;
}

// Caches only the last choice, because applications that reduce large elements usually repeat the
// same call.
Team::Chosen& Team::chosen_for_unusual(const select::Request& request) {
  if (!unusual_ || unusual_request_ != request) {
    unusual_ = choose(request, [] {});
    unusual_request_ = request;
  }
  return *unusual_;
}

// Repeats until rank 0's decision works between these processes; may_run() excludes paths that do
// not work. `prepare` allocates the memory in which this rank stores the choice.
template <class Prepare>
Team::Chosen Team::choose(const select::Request& request, Prepare prepare) {
  for (;; known_.reset()) {
    const Decision decision = decision_for(request, prepare);
    const select::Choice<select::Plan>& choice = *decision.choice;
    if (!may_run(choice.usual, false)) continue;
    if (choice.where_mapped && !may_run(*choice.where_mapped, true)) continue;
    Chosen chosen{converted(choice, [&](const select::Plan& plan) { return engine_.bound(plan); }),
                  selection_inputs_->resources().forcing.algorithm_for(request), decision.expected};
    selection_inputs_->group()->decisions().add(class_of(request), decision);
    return chosen;
  }
}

// Uses the decision of an earlier team of the same group if there is one.
template <class Prepare>
Decision Team::decision_for(const select::Request& request, Prepare prepare) {
  if (known_ && request.element_bytes <= largest_usual_element) {
    const auto known = known_->find(class_of(request));
    if (known != known_->end()) {
      prepare();
      return known->second;
    }
  }
  return agreed_decision(team_memory_, request, *selection_inputs_, prepare);
}

// Returns whether the plan works between these ranks. The first call with a plan that accesses
// peers' memory is collective.
bool Team::may_run(const select::Plan& plan, bool mapped) {
  if (!select::is_direct(plan)) return true;
  const Refusals& refusals = peer_access_.refusals(team_memory_);
  for (std::size_t path = 0; path < refusals.copying.size(); ++path) {
    const RankError& why = refusals.copying[path];
    if (!why.is_any()) continue;
    selection_inputs_->refuse_path(static_cast<single_copy::PathNumber>(path), why.text());
  }
  if (refusals.mapping.is_any()) selection_inputs_->refuse_heap(refusals.mapping.text());
  return !(mapped ? refusals.mapping : refusals.copying[select::path_of(plan)]).is_any();
}

void Team::begin_other_turn(const TunedCall& call) {
  turn_ = tuner_.begin(call);
  if (turn_.is_recall_due) turn_ = unless_lost([&] { return recalled(call); });
  if (turn_.is_verdict_due) turn_ = unless_lost([this] { return judged(turn_); });
}

bool Team::vote_pending(bool matters) {
  const bool asks = matters && fence_.has_rare_side();
  return unless_lost([&] { return team_memory_.has_started(asks, fence_); });
}

bool Team::any_rank(bool here) {
  return unless_lost([&] {
    const auto all = team_memory_.gather(static_cast<unsigned char>(here));
    return std::find(all.begin(), all.end(), 1) != all.end();
  });
}

std::byte* Team::common_memory(std::size_t bytes) {
  return unless_lost([&] {
    const auto prepare = [&] { return TeamMemory::Memory{rank_ == 0 ? bytes : 0, 0}; };
    return team_memory_.allocate(prepare).front();
  });
}

// Collective. Returns whether all buffers that peers access are in heaps that they have mapped.
bool Team::all_have_mapped(const Call& call) {
  const memory::HeapFacts& heap = *peer_access_.heap();
  const unsigned char mine = (!shows_input(call, rank_) || heap.shows(call.input)) &&
                             (!shows_output(call, rank_) || heap.shows(call.output));
  const std::span<const unsigned char> all = team_memory_.gather(mine);
  return std::find(all.begin(), all.end(), 0) == all.end();
}

// Excludes the path and discards all choices, so that they are made anew. All ranks call this in
// the same collective call.
void Team::go_on_without(single_copy::PathNumber path, std::string_view why) {
  chosen_.clear();
  latest_.fill({});
  unusual_.reset();
  last_run_ = nullptr;
  last_forced_ = {};
  known_.reset();
  peer_access_.refuse_copying(path, RankError(why));
  selection_inputs_->refuse_path(path, why);
}

std::string_view Team::latest_algorithm() const {
  return last_run_ == nullptr ? std::string_view() : select::algorithm_name(last_run_->plan());
}

std::string_view Team::latest_unserved() const {
  return last_forced_ == latest_algorithm() ? std::string_view() : last_forced_;
}

select::Explanation Team::explain(const select::Request& request) const {
  const DefaultFloatingPoint floating_point;
  select::Explanation explanation =
      select::explain(request, selection_inputs_->locality(), selection_inputs_->model(),
                      selection_inputs_->resources());
  explanation.ranks_force_different_algorithms = ranks_force_different_algorithms();
  return explanation;
}

}  // namespace huddle::team
