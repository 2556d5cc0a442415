// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/peer_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/error.h"
#include "common/system.h"
#include "runtime/select/costs.h"
#include "runtime/single_copy/heap_memory.h"

namespace huddle::team {

// Published by each rank before the tests.
struct PeerAccess::Showing {
  ProcessIdentity process;
  single_copy::Proof proof;
  std::uint64_t notes_address = 0;  // of an array of one word per rank, for test writes
  HeapAddress heap;
};

namespace {

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Returns a value that another process is unlikely to have at the same address.
std::uint64_t word_of(const ProcessIdentity& process, const void* address) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;
  const std::uint64_t place = address_of(address);
  return ((process.start_time * odd) ^ process.pid) * odd ^ place;
}

// Returns the error of the lowest rank that has one, or an empty RankError.
RankError first_of(std::span<const RankError> by_rank) {
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    if (by_rank[rank].is_any()) return RankError::of_rank(rank, by_rank[rank]);
  }
  return {};
}

}  // namespace

PeerAccess::~PeerAccess() { no_longer_let_them(); }

// Allocates memory only in the first step, or where a failure becomes a RankError that all ranks
// gather: if a rank failed elsewhere, its peers would wait for it.
const Refusals& PeerAccess::refusals(TeamMemory& team_memory) {
  if (is_known_) return refusals_;
  const auto ranks = static_cast<std::size_t>(team_memory.ranks());
  std::vector<Showing> showings;
  std::vector<RankError> copying;  // this rank's, by path
  // In the team's memory, which is kept until all ranks have left, because peers may still write
  // there.
  const std::vector<std::byte*> notes = team_memory.allocate([&] {
    showings.resize(ranks);
    views_.resize(ranks);
    refusals_.copying.resize(paths_.size());
    copying.resize(paths_.size());
    return TeamMemory::Memory{ranks * sizeof word_, ranks * sizeof word_};
  });
  const int rank = team_memory.rank();
  word_ = word_of(peers_.identity(), &word_);
  const RankError letting = RankError::of([this] { let_others_reach(); });
  const auto shown = team_memory.gather(showing(notes[static_cast<std::size_t>(rank)]));
  std::copy(shown.begin(), shown.end(), showings.begin());
  refusals_.mapping = first_of(team_memory.gather(map_all(showings)));
  // Each mapping takes the address space of a whole heap.
  if (refusals_.mapping.is_any()) std::fill(views_.begin(), views_.end(), nullptr);
  const RankError opening = RankError::of([&] { open_all(showings, team_memory); });
  const RankError before = opening.is_any() ? opening : letting;
  for (std::size_t path = 0; path < paths_.size(); ++path) {
    copying[path] = before.is_any()
                        ? before
                        : try_all(static_cast<single_copy::PathNumber>(path), showings, rank);
  }
  if (!refusals_.mapping.is_any()) refusals_.mapping = first_of(team_memory.gather(opening));
  maps_ = !refusals_.mapping.is_any();
  for (std::size_t path = 0; path < paths_.size(); ++path) {
    const RankError why = first_of(team_memory.gather(copying[path]));
    if (why.is_any()) refuse_copying(static_cast<single_copy::PathNumber>(path), why);
  }
  is_known_ = true;
  return refusals_;
}

void PeerAccess::refuse_copying(single_copy::PathNumber path, const RankError& why) {
  refusals_.copying[path] = why;
  const bool has_none = std::all_of(refusals_.copying.begin(), refusals_.copying.end(),
                                    [](const RankError& one) { return one.is_any(); });
  if (has_none) no_longer_let_them();
}

PeerAccess::Showing PeerAccess::showing(const std::byte* notes) const {
  Showing mine{peers_.identity(), {address_of(&word_), word_}, address_of(notes), {}};
  if (heap_) {
    mine.heap = {address_of(heap_->base), heap_->cap_bytes, heap_->descriptor, heap_->id};
  }
  return mine;
}

// If the Yama security module restricts ptrace, permits peers to access this process's memory as
// long as the team exists. Peers access it only during calls.
void PeerAccess::let_others_reach() {
  if (!single_copy::yama_asks(System())) return;
  peers_.tracing_permits().take();
  has_permit_ = true;
}

void PeerAccess::no_longer_let_them() {
  if (std::exchange(has_permit_, false)) peers_.tracing_permits().release();
}

// Maps the heaps of all ranks that are in other processes.
RankError PeerAccess::map_all(std::span<const Showing> showings) {
  const ProcessIdentity& me = peers_.identity();
  std::size_t rank = 0;
  const RankError rank_error = RankError::of([&] {
    for (; rank < showings.size(); ++rank) {
      const Showing& one = showings[rank];
      if (!one.heap.is_there())
        throw FailureError("it has no shared heap; enable the heap on all ranks");
      if (is_same_process(me, one.process)) continue;
      if (!share_process_ids(me, one.process)) {
        throw FailureError(
            "its process is in another PID namespace; run all ranks of a node in one container");
      }
      views_[rank] = peers_.heap_views().open(one.process, one.heap);
    }
  });
  if (!rank_error.is_any()) return {};
  std::array<char, 300> text{};
  const auto written =
      fmt::format_to_n(text.data(), text.size(), "cannot map the shared heap of rank {}: {}", rank,
                       rank_error.text());
  return RankError({text.data(), written.size});
}

single_copy::Copying PeerAccess::copying(int rank, int other) const {
  const auto pu = [&](int of) {
    return selection_inputs_.locality().pus[static_cast<std::size_t>(of)];
  };
  const machine::CostModel& model = selection_inputs_.model();
  return {select::kernels_of_reads(model, pu(other), pu(rank)),
          select::kernels_of_writes(model, pu(rank), pu(other))};
}

// Memory in a mapped heap is accessed through the mapping, regardless of the path.
std::unique_ptr<single_copy::PeerMemory> PeerAccess::open_one(const single_copy::PeerPath& path,
                                                              int other, const Showing& shown,
                                                              const TeamMemory& team_memory) const {
  auto memory = single_copy::open(
      path, {other, static_cast<pid_t>(shown.process.pid), team_memory.process(other),
             is_same_process(peers_.identity(), shown.process)});
  const auto& view = views_[static_cast<std::size_t>(other)];
  if (!view) return memory;
  return std::make_unique<single_copy::HeapMemory>(view, shown.heap.base, std::move(memory),
                                                   copying(team_memory.rank(), other));
}

void PeerAccess::open_all(std::span<const Showing> showings, const TeamMemory& team_memory) {
  for (const single_copy::PeerPath& path : paths_) {
    std::vector<single_copy::PeerMemory*> by_rank;
    for (std::size_t other = 0; other < showings.size(); ++other) {
      opened_.push_back(open_one(path, static_cast<int>(other), showings[other], team_memory));
      by_rank.push_back(opened_.back().get());
    }
    memories_.push_back(std::move(by_rank));
  }
}

RankError PeerAccess::try_all(single_copy::PathNumber path, std::span<const Showing> showings,
                              int rank) {
  return RankError::of([&] {
    for (std::size_t other = 0; other < showings.size(); ++other) {
      const Showing& one = showings[other];
      if (!is_same_process(peers_.identity(), one.process) &&
          !share_process_ids(peers_.identity(), one.process)) {
        throw FailureError(fmt::format(
            "rank {} is in another PID namespace; run all ranks of a node in one container",
            other));
      }
      if (static_cast<int>(other) != rank) prove(path, static_cast<int>(other), one, rank);
    }
  });
}

// Tests whether this rank can read and write the memory of `owner`. Reads first, to verify that the
// memory is the owner's. Writes a different word for each path, so that a word written through one
// path does not count as a success of the next.
void PeerAccess::prove(single_copy::PathNumber path, int owner, const Showing& shown, int rank) {
  single_copy::PeerMemory& memory = *memories_[path][static_cast<std::size_t>(owner)];
  std::string why = single_copy::reading_refusal(memory, shown.proof);
  if (!why.empty())
    throw FailureError(fmt::format("cannot read the memory of rank {}: {}", owner, why));
  const auto at = static_cast<std::uint64_t>(rank) * sizeof shown.proof.word;
  why = single_copy::writing_refusal(memory, {shown.notes_address + at, shown.proof.word + path});
  if (!why.empty())
    throw FailureError(fmt::format("cannot write to the memory of rank {}: {}", owner, why));
}

}  // namespace huddle::team
