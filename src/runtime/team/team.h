// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A group of ranks on one machine and its collectives. For one thread at a time; a process may have
// many, each in its own thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

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

namespace huddle::team {

class Team {
 public:
  // Collective. All ranks throw the same FailureError or none does; see decline() for one that has
  // no memory for the team itself.
  Team(Context& context, const Bootstrap& bootstrap);
  // The same in one allgather, among ranks of which all know that all have this configuration of
  // the group.
  Team(Context& context, const Bootstrap& bootstrap,
       const std::shared_ptr<GroupConfiguration>& group);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // All collective, with equal counts, operators and roots on all ranks. Throw CallsDiffer on a
  // rank that notices that another one makes a different call, or one with other arguments, and
  // then PeerLost on the others; from then on all calls throw PeerLost. Throw FailureError, on all
  // ranks together, where there is no memory for a protocol that is used for the first time; throw
  // PeerLost where a member has died, and from then on always. Throw PathFailed, on all ranks
  // together, where one could not read another one's memory any more: what was to be replaced may
  // be gone, and the calls that follow do without. Where blocks may differ, throw SizesDiffer on a
  // rank that expects a larger or smaller one than it is sent, and on no other; those of no bytes
  // are not seen.
  void barrier();
  // The root's buffer is only read.
  void bcast(void* buffer, std::size_t bytes, int root);
  // `input` may be `output`; only the root needs an output.
  void reduce(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction, int root);
  void allreduce(const void* input, void* output, std::size_t count,
                 const memory::Reduction& reduction);

  // A block from each rank for all. The input may be this rank's own block of the output.
  void allgather(const void* input, void* output, std::size_t bytes);
  // The same with blocks that all ranks know.
  void allgatherv(const void* input, void* output, const node::Blocks& blocks);
  // A block from each rank for each. The input may be the output, on all ranks or on none.
  void alltoall(const void* input, void* output, std::size_t bytes);
  // The same with blocks of which the two of a pair know. In place both sides' lie alike.
  void alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                 const node::Blocks& incoming);
  // A block from each rank for the root; only the root looks at the output and its blocks. There
  // the input may be its own block of the output.
  void gather(const void* input, void* output, std::size_t bytes, int root);
  void gatherv(const void* input, std::size_t bytes, void* output, const node::Blocks& blocks,
               int root);
  // A block from the root for each rank; only the root looks at the input and its blocks. There the
  // output may be its own block of the input.
  void scatter(const void* input, void* output, std::size_t bytes, int root);
  void scatterv(const void* input, const node::Blocks& blocks, void* output, std::size_t bytes,
                int root);
  // Each rank has its block of what all contribute; blocks are counted in elements, known to all
  // ranks, and follow each other. The input may be the output, which then takes some memory.
  void reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                      const memory::Reduction& reduction);
  // What the ranks up to this one contribute, or those before it: then the first one's output is
  // left alone. The input may be the output.
  void scan(const void* input, void* output, std::size_t count, const memory::Reduction& reduction);
  void exscan(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction);

  // The same by a plan of the caller's choice, equal on all ranks. pre: the plan is one of those
  // that explain() gives for such a call.
  void run_by(const select::Plan& plan, const Call& call);
  // The same in two steps: what the plan takes, once, and any number of calls. pre: there are two
  // ranks or more.
  Ready ready_by(const select::Plan& plan);
  void run_by(const Ready& ready, const Call& call) {
    const memory::HeapUse in_use(peer_access_.heap());
    run_ready(ready, call);
  }

  // For a caller that cannot come to the call that the others make: instead of waiting for this
  // rank, they throw PeerLost, and so does whatever it does with this team from now on.
  void give_up(std::string_view why);
  // For callers that have to ask all ranks something before a call, once it matters to any: whether
  // all ask before this call, the same on all ranks if all come here before the same calls. Who
  // finds that it matters asks for it, and may be too late for this call, and for a few more.
  bool is_to_ask(bool matters);
  // Collective: whether it holds on any rank.
  bool holds_anywhere(bool here);

  // Whether a member died, or gave up: then it is of no use any more.
  bool is_lost() const { return lost_.is_any(); }
  // Collective: memory of the first rank's that all see, as long as they have the team. What it
  // holds is not said. All ranks throw the same FailureError or none does.
  std::byte* common_memory(std::size_t bytes);
  // Of this rank's memory, what the team has so far.
  std::size_t shared_bytes() const { return team_memory_.shared_bytes(); }
  // Where this rank sat when the team was made.
  const CpuBinding& own_cpu_binding() const {
    return selection_inputs_->cpu_bindings()[static_cast<std::size_t>(rank_)];
  }
  // For teams of the same members to come.
  const std::shared_ptr<GroupConfiguration>& group() const { return selection_inputs_->group(); }
  // For whoever waits for something else on the members' behalf: it waits as they do, and hears of
  // members that are lost.
  context::Waiting& waiting() { return waiting_; }

  // What the last call that moved anything ran by its own choice; empty before the first.
  std::string_view latest_algorithm() const;
  // The algorithm that was to run that call by force, where it could not; else empty.
  std::string_view latest_unserved() const;
  // Whether members were told to force different things; then the lowest one's is everybody's.
  bool is_forcing_unlike() const { return selection_inputs_->group()->is_forcing_unlike(); }

  // What would run, what else could, and what each would cost.
  select::Explanation explain(const select::Request& request) const;

 private:
  Team(Context& context, const Bootstrap& bootstrap, std::unique_ptr<Preparation> preparation);
  // known: the decisions that this team uses if all ranks brought the same. They are one edition of
  // the book from the beginning, because another thread may add to the book during the set-up.
  Team(Context& context, const Bootstrap& bootstrap,
       const std::shared_ptr<GroupConfiguration>& group, const DecisionBook::Edition& known);
  Team(Context& context, const Bootstrap& bootstrap,
       const std::shared_ptr<GroupConfiguration>& group, std::shared_ptr<const Decisions> known,
       Joining&& joining);
  void gather_to_all(select::Operation operation, const void* input, void* output,
                     const node::Blocks& blocks, std::size_t largest);
  void gather_to_root(select::Operation operation, const void* input, std::size_t bytes,
                      void* output, const node::Blocks& blocks, int root);
  void scatter_from_root(select::Operation operation, const void* input, const node::Blocks& blocks,
                         void* output, std::size_t bytes, int root);
  void run(const Call& call);
  void begin_call(const Call& call) {
    waiting_.set_stamp(call_records_.note(CallArguments::of(call)));
  }
  void compare_idle_calls();
  [[noreturn]] void fail_because_calls_differ(const context::CallsDiffer& error);
  template <class Attempt>
  auto unless_lost(Attempt attempt);
  void lose(std::string_view why);
  void run_ready(const Ready& ready, const Call& call);
  void run_alone(const Call& call);
  // What runs where all ranks have mapped what the others hand in, if that is worth asking for,
  // and what runs else.
  struct Choice {
    Ready usual;
    std::optional<Ready> where_mapped;
    std::string_view forced = {};  // the selection inputs' word
  };
  struct Class {
    std::size_t size = 0;
    bool root_moved = false;
    auto operator<=>(const Class&) const = default;
  };

  const Ready& ready_for(const Call& call);
  bool note_root(const Call& call);
  const Choice& choice_for(const Call& call);
  const Choice& choice_for_unusual(const Call& call);
  template <class Prepare>
  Choice choose(const select::Request& request, Prepare prepare);
  template <class Prepare>
  Decision decision_for(const select::Request& request, Prepare prepare);
  bool may_run(const select::Plan& plan, bool mapped);
  bool all_have_mapped(const Call& call);
  void go_on_without(single_copy::PathNumber path, std::string_view why);

  int rank_;
  int ranks_;
  // Both are there once the team's memory is: what it takes to have them is part of what is agreed
  // on.
  std::optional<SelectionInputs> selection_inputs_;
  std::shared_ptr<const Decisions> known_;  // to all members; null: none, or not the same
  TeamMemory team_memory_;
  CallRecords& call_records_;  // of this rank, in that memory
  context::Waiting waiting_;
  PeerAccess peer_access_;
  Engine engine_;
  memory::OneSidedFence fence_;
  // By operation and class; nothing where choosing failed, so that there was memory for it in vain.
  std::array<std::map<Class, std::optional<Choice>>, select::operations.size()> chosen_;
  struct Latest {
    const Choice* choice = nullptr;
    std::size_t bytes = 0;
    bool root_moved = false;
  };
  std::array<Latest, select::operations.size()> latest_;  // by operation; points into chosen_
  std::optional<Choice> barrier_;                         // once chosen
  std::optional<Choice> unusual_;                         // for elements larger than any of C
  select::Request unusual_request_;
  int bcast_root_ = 0;               // the latest one
  const Ready* last_run_ = nullptr;  // one of the above
  std::string_view last_forced_;     // what was to run there, if anything
  std::uint32_t idle_calls_ = 0;     // those that moved nothing
  Trouble lost_;                     // why the team cannot be used any more
};

}  // namespace huddle::team
