// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A team: ranks on one machine that share memory, and their collectives. A team is not thread-safe,
// but a process may use several teams at once, each in its own thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/context/errors.h"
#include "runtime/memory/reduction.h"
#include "runtime/node/blocks.h"
#include "runtime/select/candidate.h"
#include "runtime/select/explain.h"
#include "runtime/select/operation.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/engine.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/peer_access.h"
#include "runtime/team/preparation.h"
#include "runtime/team/team_context.h"
#include "runtime/team/team_memory.h"
#include "runtime/team/tuner.h"
#include "runtime/team/tuning_history.h"

namespace huddle::team {

class Team {
 public:
  // Collective. Either all ranks throw the same FailureError or none does. A rank that has no
  // memory for the Team object itself calls fail_set_up() instead.
  Team(Context& context, const Bootstrap& bootstrap);
  // The same with a single allgather.
  // Requires: all ranks have this configuration of the group, and each rank knows that all have it.
  Team(Context& context, const Bootstrap& bootstrap,
       const std::shared_ptr<GroupConfiguration>& group);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // Collectives. All ranks pass equal counts, operators and roots. They throw:
  //   CallsDiffer   on a rank that detects that a peer makes another call or passes other
  //                 arguments. The other ranks throw PeerLost, and so do all later calls;
  //   FailureError  on all ranks, if memory for the first use of a protocol is exhausted;
  //   PeerLost      if a rank has died or abandoned the team, and in every later call;
  //   PathFailed    on all ranks, if a rank can no longer access a peer's memory. The output is
  //                 undefined; later calls use other paths;
  //   SizesDiffer   on a rank that is sent a block of an unexpected size, if sizes may differ
  //                 between blocks. Empty blocks are not checked.
  void barrier();
  // Does not write to the root's buffer.
  void bcast(void* buffer, std::size_t bytes, int root);
  // `input` may be `output`. Only the root's `output` is used.
  void reduce(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction, int root);
  void allreduce(const void* input, void* output, std::size_t count,
                 const memory::Reduction& reduction);

  // Gathers one block from each rank on all ranks. `input` may be this rank's block of `output`.
  void allgather(const void* input, void* output, std::size_t bytes);
  // The same with blocks of different sizes. `blocks` is equal on all ranks.
  void allgatherv(const void* input, void* output, const node::Blocks& blocks);
  // Sends one block from each rank to each rank. `input` may be `output`, on all ranks or on none.
  void alltoall(const void* input, void* output, std::size_t bytes);
  // The same with blocks whose sizes only their sender and receiver know. If `input` is `output`,
  // `outgoing` and `incoming` must be equal.
  void alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                 const node::Blocks& incoming);
  // Gathers one block from each rank on the root. Only the root's `output` and `blocks` are used.
  // On the root `input` may be its own block of `output`.
  void gather(const void* input, void* output, std::size_t bytes, int root);
  void gatherv(const void* input, std::size_t bytes, void* output, const node::Blocks& blocks,
               int root);
  // Sends one block from the root to each rank. Only the root's `input` and `blocks` are used. On
  // the root `output` may be its own block of `input`.
  void scatter(const void* input, void* output, std::size_t bytes, int root);
  void scatterv(const void* input, const node::Blocks& blocks, void* output, std::size_t bytes,
                int root);
  // Reduces the inputs of all ranks and leaves one block of the result on each rank. Blocks are
  // counted in elements, contiguous, and equal on all ranks. Allocates memory if `input` is
  // `output`.
  void reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                      const memory::Reduction& reduction);
  // Inclusive (scan) or exclusive (exscan) prefix reduction in rank order. exscan leaves the output
  // of rank 0 unchanged. `input` may be `output`.
  void scan(const void* input, void* output, std::size_t count, const memory::Reduction& reduction);
  void exscan(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction);

  // Begins a call that is tuned: lets the fastest implementation run it, by measured times (see
  // tuner.h). Collective every few hundred calls. If the turn is outside, the caller runs the call
  // in another way, after note_outside_call(); otherwise it makes the call next. If the turn is
  // timed, end_turn() follows. The same calls have to be tuned on all ranks.
  const Turn& begin_turn(const TunedCall& call) {
    if (!tuner_.begin_like_latest(call, turn_)) begin_other_turn(call);
    return turn_;
  }
  // Does the same and returns the turn, unless it may be part of a trial: then it does nothing and
  // returns null.
  const Turn* begin_usual_turn(const TunedCall& call) {
    return tuner_.begin_outside_trial(call, turn_) ? &turn_ : nullptr;
  }
  void end_turn(const Turn& turn, Tuner::Sample sample);
  // Returns which implementation ran the latest call, if it was tuned.
  Implementation latest_implementation() const { return turn_.by; }
  // Records a call that the team does not run, so that ranks whose calls differ get an error.
  // Throws PeerLost if the team is lost, because in the MPI this rank would wait for a peer that
  // has left.
  void note_outside_call(const CallArguments& arguments);
  // Returns the latest trial that has ended, once.
  std::optional<Tuner::Result> take_tuning_result() { return tuner_.take_result(); }
  // Notes in the context's history how many calls remain until the next trial of each class.
  void note_tuning() noexcept;

  // Records a call over several nodes that this team carries out a part of. A rank whose call over
  // several nodes differs from that of a peer gets an error from the next call of this team that
  // compares arguments. `is_idle`: the call moves no data, and needs no other call of this team.
  void note_enclosing_call(const CallArguments& arguments, bool is_idle);

  // Copies the arguments of the next of these collectives except barrier(), because a copy of every
  // call would make it slower.
  void keep_next_call() { keeps_next_call_ = true; }
  // Returns that copy. run() repeats the call as long as the buffers, the lists of blocks and the
  // reduction exist. An in-place reduction to blocks has an output of the team's own.
  const Call& kept_call() const { return kept_call_; }
  void run(const Call& call);

  // Runs a call with the given plan. Throws as the collectives do.
  // Requires: the plan is equal on all ranks and one of those that explain() lists for such a call.
  void run_by(const select::Plan& plan, const Call& call);
  // The same in two steps: ready_by() sets up the plan collectively; then run_by() can be called
  // any number of times.
  // Requires: the team has at least two ranks.
  BoundPlan ready_by(const select::Plan& plan);
  void run_by(const BoundPlan& bound, const Call& call) {
    const memory::HeapUse in_use(peer_access_.heap());
    run_bound(bound, call);
  }

  // Removes this rank from the team, for example after an error. The peers' current and later calls
  // throw PeerLost instead of waiting for it, and so do later calls on this rank.
  void abandon(std::string_view why);
  // Returns whether the ranks vote (see any_rank()) before the next call. All ranks get the same
  // answer if each calls this before the same collectives. `matters` requests votes; a request may
  // take effect a few calls later, and a vote then precedes every call.
  bool vote_pending(bool matters);
  // Collective logical OR over the ranks.
  bool any_rank(bool here);

  // Returns the number of calls that this rank has begun.
  std::uint32_t calls() const { return call_records_.calls(); }
  // Returns whether a rank is known to have died or abandoned the team. The team is then unusable.
  bool is_lost() const { return lost_.is_any(); }
  // Collective. Allocates uninitialized memory in rank 0's arena, which each rank can access as
  // long as its Team exists. Either all ranks throw the same FailureError or none does.
  std::byte* common_memory(std::size_t bytes);
  // Returns the amount of this rank's shared memory that the team uses.
  std::size_t shared_bytes() const { return team_memory_.shared_bytes(); }
  // Returns this rank's CPU binding at team set-up.
  const CpuBinding& own_cpu_binding() const {
    return selection_inputs_->cpu_bindings()[static_cast<std::size_t>(rank_)];
  }
  // Returns the group's configuration, for later teams of the same ranks.
  const std::shared_ptr<GroupConfiguration>& group() const { return selection_inputs_->group(); }
  // Returns the waiting policy of the collectives, for use in other waits. Such waits also throw
  // PeerLost.
  context::Waiting& waiting() { return waiting_; }

  // Returns the algorithm selected for the last call that moved data; empty before the first.
  std::string_view latest_algorithm() const;
  // Returns the algorithm that was forced for that call if another one ran because the forced one
  // could not; otherwise empty.
  std::string_view latest_unserved() const;
  // Returns whether the ranks' settings force different algorithms. Rank 0's setting is then in
  // effect.
  bool ranks_force_different_algorithms() const {
    return selection_inputs_->group()->ranks_force_different_algorithms();
  }

  // Returns the algorithm that would run the request, the alternatives, and their predicted times.
  select::Explanation explain(const select::Request& request) const;

 private:
  Team(Context& context, const Bootstrap& bootstrap, std::unique_ptr<Preparation> preparation);
  // `known` contains the decisions that the team reuses if all ranks have the same. It is one
  // snapshot of the book because another thread may add to the book during the set-up.
  Team(Context& context, const Bootstrap& bootstrap,
       const std::shared_ptr<GroupConfiguration>& group, const DecisionBook::Edition& known);
  Team(Context& context, const Bootstrap& bootstrap,
       const std::shared_ptr<GroupConfiguration>& group, std::shared_ptr<const Decisions> known,
       TeamSetUp&& joining);
  void gather_to_all(select::Operation operation, const void* input, void* output,
                     const node::Blocks& blocks, std::size_t largest);
  void gather_to_root(select::Operation operation, const void* input, std::size_t bytes,
                      void* output, const node::Blocks& blocks, int root);
  void scatter_from_root(select::Operation operation, const void* input, const node::Blocks& blocks,
                         void* output, std::size_t bytes, int root);
  void begin_call(const Call& call) {
    waiting_.set_stamp(call_records_.note(CallArguments::of(call), enclosing_call_));
  }
  void compare_idle_calls();
  [[noreturn]] void fail_because_calls_differ(const context::CallsDiffer& error);
  template <class Attempt>
  auto unless_lost(Attempt attempt);
  void lose(std::string_view why);
  void run_bound(const BoundPlan& bound, const Call& call);
  void run_alone(const Call& call);
  struct Chosen {
    select::Choice<BoundPlan> choice;
    std::string_view forced;  // owned by the selection inputs
    Tuner::Expectation expected;
    // On rank 0: all other plans, once the tuner has requested one.
    AlternativeList listed = nullptr;
    // Those with the numbers that the tuner requested last.
    std::optional<AlternativeNumbers> alternative_numbers = std::nullopt;
    Alternatives alternatives = {};
    // The same, as far as they are set up.
    std::array<std::optional<BoundPlan>, alternatives_at_once> bound_alternatives = {};

    // Returns whether the plan of the turn's number is known, or that there is none. The other
    // numbers may differ, because calls of two classes, such as allreduces of integers and of
    // doubles, can have the same choice.
    bool has_alternative(const Turn& turn) const {
      return alternative_numbers &&
             (*alternative_numbers)[turn.which] == turn.alternatives[turn.which];
    }
  };

  void begin_other_turn(const TunedCall& call);
  Turn judged(const Turn& due);
  Turn recalled(const TunedCall& call);
  Tuner::Recalled known_about(const TunedClass& tuned_class) noexcept;
  std::optional<std::uint16_t> recalled_number(const select::PlanFeatures& plan) noexcept;
  const BoundPlan& alternative_to(Chosen& chosen, const select::Request& request);
  void find_alternatives(Chosen& chosen, const select::Request& request);
  AlternativeList listed_alternatives(const Chosen& chosen, const select::Request& request);
  void set_up_alternative(Chosen& chosen);
  const BoundPlan& bound_plan_for(const Call& call, memory::HeapUse& in_use);
  // Returns whether the root differs from that of the last broadcast. Equal on all ranks, because
  // they have made the same broadcasts.
  bool note_root(int root) { return std::exchange(bcast_root_, root) != root; }
  Chosen& chosen_for(const Call& call);
  Chosen& chosen_for_new(const Call& call, std::size_t bytes, bool root_moved);
  Chosen& chosen_for_unusual(const select::Request& request);
  template <class Prepare>
  Chosen choose(const select::Request& request, Prepare prepare);
  template <class Prepare>
  Decision decision_for(const select::Request& request, Prepare prepare);
  bool may_run(const select::Plan& plan, bool mapped);
  bool all_have_mapped(const Call& call);
  void go_on_without(single_copy::PathNumber path, std::string_view why);

  int rank_;
  int ranks_;
  // Constructed during the set-up of team_memory_, so that a failure is reported to all ranks.
  std::optional<SelectionInputs> selection_inputs_;
  std::shared_ptr<const Decisions> known_;  // earlier decisions, equal on all ranks; or null
  TeamMemory team_memory_;
  CallRecords& call_records_;  // of this rank, in team_memory_
  context::Waiting waiting_;
  PeerAccess peer_access_;
  Engine engine_;
  memory::OneSidedFence fence_;
  Tuner tuner_;
  Turn turn_;
  TuningHistory& tuning_history_;               // of the context
  std::vector<select::PlanFeatures> recalled_;  // on rank 0: by number of the alternative
  // An entry is empty if the choice failed after the entry was allocated.
  std::map<CallClass, std::optional<Chosen>> chosen_;
  struct Latest {
    Chosen* chosen = nullptr;
    std::size_t bytes = 0;
    bool root_moved = false;
  };
  std::array<Latest, select::operations.size()> latest_;  // by operation; points into chosen_
  std::optional<Chosen> barrier_;                         // empty before the first barrier
  std::optional<Chosen> unusual_;                         // for larger elements than built-in ones
  select::Request unusual_request_;
  int bcast_root_ = 0;                   // of the last broadcast
  const BoundPlan* last_run_ = nullptr;  // points into one of the choices above
  std::string_view last_forced_;         // algorithm that was forced for that call, if any
  Tuner::Expectation last_expected_;     // of the latest call by a chosen plan
  std::uint32_t idle_calls_ = 0;         // number of calls that moved no data
  context::CallStamp enclosing_call_;
  RankError lost_;  // why the team is unusable
  bool keeps_next_call_ = false;
  Call kept_call_;
  std::unique_ptr<std::byte[]> aside_;  // the result of a reduce_scatter in place
  std::size_t aside_bytes_ = 0;
};

}  // namespace huddle::team
