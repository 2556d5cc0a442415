// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/joining.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "team/agree.h"
#include "team/preparation.h"
#include "team/process_identity.h"

namespace huddle::mpi {
namespace {

// A call that moves much gains more from a team than one that moves little: so many bytes count as
// one call more. About what a core copies in the time that a small collective of an MPI takes.
constexpr std::size_t bytes_of_a_call = 16 << 10;

// What a rank keeps for communicators to come, of teams that nobody uses: as much as an arena keeps
// of free memory.
constexpr std::size_t pool_bytes = std::size_t{8} << 20;

// What joining is taken to cost before this process has done it: to learn what machine this is, and
// to make a team whose protocols are set up at their first calls.
constexpr std::uint64_t machine_ns = 3'000'000;
constexpr std::uint64_t usual_team_ns = 500'000;

using Clock = std::chrono::steady_clock;

std::uint64_t ns_since(Clock::time_point start) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ns.count()));
}

// Processes share memory where they run on one kernel, and their MPI says that they are one node:
// containers and test beds that pass for nodes of their own stay so.
std::uint64_t this_node() {
  const team::ProcessIdentity identity = team::ProcessIdentity::mine();
  utsname names{};
  uname(&names);
  return identity.machine ^ std::hash<std::string_view>()(names.nodename) ^
         (identity.pid_namespace * 0x9e3779b97f4a7c15U);
}

}  // namespace

struct Joining::Facts {
  std::uint64_t node;
  std::uint64_t settings;
  bool has_memory;    // false: nothing of the rest holds
  bool has_context;   // it knows its machine already
  bool has_progress;  // it can keep the MPI moving
  // The team that it took from its pool; 0: none.
  std::uint64_t offered;
  std::uint64_t offered_calls;
  std::uint64_t group;        // that it knows; 0: none
  std::uint64_t next_number;  // the lowest rank's is that of a team that is made
  int free_tag;               // for a team over several nodes
  JoinTerms terms;
};

bool Joining::are_on_one_node(std::span<const Facts> all) {
  return std::all_of(all.begin(), all.end(),
                     [&](const Facts& rank) { return rank.node == all.front().node; });
}

Joining::Joining(const UnderlyingMpi& real, const Types& types, const Options& options,
                 WorldRanks& world_ranks, RollCall& roll_call, NodeContext& context,
                 InterNode& inter_node, MpiProgress& mpi_progress, Complain warn)
    : real_(real),
      types_(types),
      options_(options),
      world_ranks_(world_ranks),
      roll_call_(roll_call),
      context_(context),
      inter_node_(inter_node),
      nodes_(context, inter_node),
      mpi_progress_(mpi_progress),
      warn_(std::move(warn)),
      first_ask_(options.join_after.value_or(first_ask)),
      settings_(options.digest()),
      pool_(pool_bytes),
      team_ns_(usual_team_ns) {}

void Joining::count(Communicator& communicator, std::size_t bytes) {
  communicator.use += 1 + bytes / bytes_of_a_call;
  if (communicator.use > std::max(first_ask_, communicator.next_ask)) join(communicator);
}

void Joining::leave(Communicator& communicator) noexcept {
  Entry& entry = communicator.entry;
  if (communicator.team) {
    entry.team = std::move(communicator.team);
    entry.calls += communicator.shares.taken;
    pool_.put(std::move(entry));
  } else if (!entry.members.empty()) {
    past_calls_.add(std::move(entry.members), {communicator.use, communicator.call_ns});
  }
}

// A rank that has no memory to find out who is here comes to agree with the others all the same,
// and says so there.
void Joining::join(Communicator& communicator) {
  communicator.passed = Route::huddle;
  communicator.why = team::Trouble::of([&] { communicator.passed = meet(communicator); });
  if (communicator.passed != Route::huddle) return;
  Holding holding;
  communicator.passed = agree(communicator, holding);
  if (communicator.passed != Route::huddle || communicator.internode) return;
  if (holding.entry.team == nullptr) {
    communicator.why = team::Trouble::of([&] { make_team(communicator, holding); });
    if (communicator.why.is_any()) communicator.passed = Route::no_team;
  }
  communicator.team = std::move(holding.entry.team);
  communicator.entry.number = holding.entry.number;
  communicator.entry.calls = holding.entry.calls;
}

// What each rank finds by itself, and all alike. Whoever is missing is on another node, or would
// never answer; that all of the job would is known where there is a way between its nodes.
Route Joining::meet(Communicator& communicator) {
  if (!communicator.entry.members.empty()) return Route::huddle;
  WorldRanks::Ranks ranks = world_ranks_.ranks_of(communicator);
  if (ranks.passed != Route::huddle) return ranks.passed;
  const auto& in_job = ranks.in_job;
  const auto missing = std::find_if_not(in_job.begin(), in_job.end(),
                                        [this](int rank) { return roll_call_.is_here(rank); });
  if (missing != in_job.end() && !inter_node_.is_open()) {
    return judge_missing(*missing, in_job[static_cast<std::size_t>(communicator.rank)]);
  }
  communicator.entry.members = std::move(ranks.in_job);
  return Route::huddle;
}

Route Joining::judge_missing(int rank, int own) {
  if (!roll_call_.is_job_on_one_node()) return Route::several_nodes;
  // The lowest rank that has huddle speaks for all.
  int lowest = 0;
  while (lowest < own && !roll_call_.is_here(lowest)) ++lowest;
  if (lowest == own) {
    warn_(
        fmt::format("rank {} runs without huddle, or with another HUDDLE_JOIN_AFTER: collectives "
                    "that it takes part in go to the MPI",
                    rank));
  }
  return Route::without_huddle;
}

Joining::Facts Joining::facts_of(const Communicator& communicator, const Holding& holding) {
  // Not by std::call_once: what is thrown for want of memory would have to pass through the C
  // library.
  if (node_ == 0) node_ = this_node();
  const bool has_context = context_.is_there();
  const PastCalls::Past past = past_calls_.of(communicator.entry.members);
  return {node_,
          settings_,
          true,
          has_context,
          mpi_progress_.start(),
          holding.entry.number,
          holding.entry.calls,
          holding.known.number,
          numbers_.fetch_add(1) + 1,
          inter_node_.free_tag(),
          {past.calls, quicker(past.call_ns, communicator.call_ns),
           team_ns_ + (has_context ? 0 : machine_ns)}};
}

Route Joining::agree(Communicator& communicator, Holding& holding) {
  Facts mine{};
  if (!communicator.why.is_any()) {
    communicator.why = team::Trouble::of([&] {
      const team::CpuBinding here = team::cpu_binding_of_this_thread(0);
      holding.entry = pool_.take(communicator.entry.members, here);
      holding.known = pool_.group(communicator.entry.members, here);
      mine = facts_of(communicator, holding);
    });
  }
  team::ByRank<Facts> room(communicator.ranks);
  const std::span<Facts> all = room.all();
  const auto start = Clock::now();
  if (!tell(all, mine, communicator)) return Route::no_team;
  communicator.call_ns = quicker(communicator.call_ns, ns_since(start));
  const Route passed = find_common_ground(all, mine);
  return passed == Route::huddle ? come_by_team(communicator, holding, all) : passed;
}

Route Joining::find_common_ground(std::span<const Facts> all, const Facts& mine) const {
  const auto everywhere = [&](auto holds) { return std::all_of(all.begin(), all.end(), holds); };
  if (!everywhere([](const Facts& rank) { return rank.has_memory; })) return Route::no_team;
  if (!inter_node_.is_open() && !are_on_one_node(all)) {
    return Route::several_nodes;
  }
  if (!everywhere([&](const Facts& rank) { return rank.settings == mine.settings; })) {
    return Route::unlike_settings;
  }
  const bool moves = everywhere([](const Facts& rank) { return rank.has_progress; });
  return moves ? Route::huddle : Route::no_team;
}

Route Joining::come_by_team(Communicator& communicator, Holding& holding,
                            std::span<const Facts> all) {
  if (keep_common(holding.entry, all)) return Route::huddle;
  const bool all_know_machine =
      std::all_of(all.begin(), all.end(), [](const Facts& rank) { return rank.has_context; });
  const JoinVerdict price = verdict(communicator, all);
  if (!price.joins) {
    const auto rank = static_cast<std::size_t>(communicator.rank);
    const bool is_first_of_node =
        std::none_of(all.begin(), all.begin() + communicator.rank,
                     [&](const Facts& lower) { return lower.node == all[rank].node; });
    if (price.is_near && !all_know_machine && is_first_of_node) context_.begin_to_look();
    communicator.next_ask = price.next_ask;
    return Route::too_young;
  }
  if (!are_on_one_node(all)) {
    // Two alone, each on its node: there is one message each way, whoever sends it.
    return all.size() == 2 ? Route::quicker_by_mpi : join_nodes(communicator, all);
  }
  holding.entry.number = all.front().next_number;
  const bool same_group = std::all_of(all.begin(), all.end(), [&](const Facts& rank) {
    return rank.group != 0 && rank.group == all.front().group;
  });
  if (!same_group) holding.known = {};
  return all_know_machine || share_machine(communicator) ? Route::huddle : Route::no_team;
}

JoinVerdict Joining::verdict(const Communicator& communicator, std::span<const Facts> all) const {
  if (options_.join_after) return {.joins = true};
  JoinTerms of_all = all.front().terms;
  for (const Facts& one : all) of_all.meet(one.terms);
  return judge_price(communicator.use, of_all);
}

// Where all have taken the same team from their pools, and made as many calls with it, they go on
// with that. One that others have left behind will never be offered by them again, and numbers
// grow: so it is left here, too.
bool Joining::keep_common(Entry& entry, std::span<const Facts> all) {
  const auto is_common = [&](const Facts& rank) {
    return rank.offered != 0 && rank.offered == all.front().offered &&
           rank.offered_calls == all.front().offered_calls;
  };
  if (std::all_of(all.begin(), all.end(), is_common)) return true;
  const auto is_newer = [&](const Facts& rank) {
    return rank.offered > entry.number ||
           (rank.offered == entry.number && rank.offered_calls != entry.calls);
  };
  if (std::none_of(all.begin(), all.end(), is_newer)) pool_.put(std::move(entry));
  entry = {};
  return false;
}

// False where the MPI fails. The MPI only gathers: what it does to reduce may want more stack than
// the thread has that came here (Debian's MPICH: 130 KiB).
template <class Words>
bool Joining::tell(std::span<Words> all, const Words& mine, const Communicator& communicator) {
  return gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(all), communicator);
}

bool Joining::all_agree(bool mine, const Communicator& communicator) {
  team::ByRank<std::uint8_t> room(communicator.ranks);
  const std::span<std::uint8_t> all = room.all();
  return tell(all, static_cast<std::uint8_t>(mine), communicator) &&
         std::all_of(all.begin(), all.end(), [](std::uint8_t agrees) { return agrees != 0; });
}

bool Joining::gather(std::span<const std::byte> mine, std::span<std::byte> all,
                     const Communicator& communicator) {
  const Datatype byte = types_.named("MPI_BYTE");
  const auto bytes = static_cast<int>(mine.size());
  return real_.allgather(mine.data(), bytes, byte, all.data(), bytes, byte,
                         communicator.handle.load()) == success;
}

// From the lowest rank to all; true where everybody has it.
bool Joining::share_text(std::string& text, Communicator& communicator) {
  const Comm comm = communicator.handle.load();
  std::uint64_t bytes = text.size();
  real_.bcast(&bytes, 1, types_.named("MPI_UINT64_T"), 0, comm);
  const team::Trouble trouble = team::Trouble::of([&] { text.resize(bytes); });
  if (!all_agree(bytes > 0 && !trouble.is_any(), communicator)) return false;
  return real_.bcast(text.data(), static_cast<int>(bytes), types_.named("MPI_BYTE"), 0, comm) ==
         success;
}

// True where everybody made use of the lowest rank's.
bool Joining::share_machine(Communicator& communicator) {
  std::string text;  // stays empty where the lowest rank fails
  communicator.why = team::Trouble::of([&] {
    if (communicator.rank == 0) text = context_.machine_text();
  });
  if (!share_text(text, communicator)) return false;
  communicator.why = team::Trouble::of([&] { context_.make(text); });
  return all_agree(!communicator.why.is_any(), communicator);
}

Route Joining::join_nodes(Communicator& communicator, std::span<const Facts> all) {
  const auto allgather = [&](std::span<const std::byte> mine, std::span<std::byte> gathered) {
    if (gather(mine, gathered, communicator)) return;
    throw FailureError("the MPI cannot gather what a team is made from");
  };
  communicator.why = team::Trouble::of([&] {
    NodeJoining::Known known;
    bool has_tags = true;
    for (const Facts& rank : all) {
      known.nodes.push_back(rank.node);
      known.has_context.push_back(rank.has_context);
      known.tag = std::max(known.tag, rank.free_tag);
      has_tags = has_tags && rank.free_tag != 0;
    }
    if (!has_tags) known.tag = 0;
    communicator.internode = nodes_.make({communicator.rank, communicator.ranks, allgather}, known,
                                         communicator.entry.members);
  });
  return communicator.why.is_any() ? Route::no_team : Route::huddle;
}

// Where all know what the group has agreed on, they say only where their memory is.
void Joining::make_team(Communicator& communicator, Holding& holding) {
  const auto allgather = [&](std::span<const std::byte> mine, std::span<std::byte> all) {
    if (gather(mine, all, communicator)) return;
    throw FailureError("the MPI cannot gather what a team is made from");
  };
  const team::Bootstrap bootstrap{communicator.rank, communicator.ranks, std::cref(allgather)};
  const auto start = Clock::now();
  auto& team = holding.entry.team;
  if (holding.known.group) {
    team = team::make_or<team::Team>([&] { team::decline_in_known_group(bootstrap); },
                                     context_.get(), bootstrap, holding.known.group);
  } else {
    team = team::make_or_decline<team::Team>(bootstrap, context_.get(), bootstrap);
    pool_.keep_group(communicator.entry.members, communicator.rank,
                     {holding.entry.number, team->group()});
  }
  if (team->is_forcing_unlike() && communicator.rank == 0) {
    warn_("ranks were given different HUDDLE_ALGO: all do what the lowest was given");
  }
  // As much again for what its first calls set up.
  team_ns_ = std::min(team_ns_.load(), 2 * ns_since(start));
}

}  // namespace huddle::mpi
