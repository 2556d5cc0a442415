// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/activation.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/error.h"
#include "runtime/internode/node_discovery.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/preparation.h"
#include "runtime/team/process_identity.h"

namespace huddle::mpi {
namespace {

// Limit on the memory of the unused teams that a rank keeps; equals the free memory that an arena
// keeps.
constexpr std::size_t pool_bytes = std::size_t{8} << 20;

// Assumed set-up costs: of discovering the machine; of a context for a known machine, and for one
// that this rank has prepared for in MPI_Init; and, until this process has measured it, of a team,
// including the set-up of protocols in its first calls.
constexpr std::uint64_t machine_ns = 3'000'000;
constexpr std::uint64_t context_ns = 1'000'000;
constexpr std::uint64_t prepared_context_ns = 150'000;
constexpr std::uint64_t usual_team_ns = 500'000;
// Assumed cost of creating a team over several nodes: about fifty messages in sequence.
constexpr std::uint64_t usual_nodes_team_ns = 10'000'000;

using Clock = std::chrono::steady_clock;

std::uint64_t ns_since(Clock::time_point start) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ns.count()));
}

// Returns an identifier of this node. Ranks are on one node if they share kernel, host name and PID
// namespace, so that containers and testbeds that emulate several nodes remain separate.
std::uint64_t this_node() {
  const team::ProcessIdentity identity = team::ProcessIdentity::mine();
  utsname names{};
  uname(&names);
  return identity.machine ^ std::hash<std::string_view>()(names.nodename) ^
         (identity.pid_namespace * 0x9e3779b97f4a7c15U);
}

// The minimum and maximum of a number over the ranks.
struct Range {
  Range() = default;
  explicit Range(std::uint64_t number) : least(number), most(number) {}

  std::uint64_t least = 0;
  std::uint64_t most = 0;

  bool is_one() const { return least == most; }
  void combine(const Range& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

// The teams that the ranks took from their pools: the team numbers (0: none), and the numbers of
// calls that the ranks have made with the newest of these teams.
struct Offers {
  Range teams;
  Range calls;

  bool are_one() const { return teams.least != 0 && teams.is_one() && calls.is_one(); }
  // Returns whether `team` must be dropped, because some rank offers a newer one or the ranks have
  // made different numbers of calls with it.
  // Requires: `team` is one of the offers.
  bool are_newer(std::uint64_t team) const { return teams.most > team || !calls.is_one(); }
  void combine(const Offers& other) {
    if (other.teams.most > teams.most) calls = other.calls;
    if (other.teams.most == teams.most) calls.combine(other.calls);
    teams.combine(other.teams);
  }
};

// Returns whether the job was started with `mpirun --with-ft ulfm`. Its programs expect that
// MPIX_Comm_revoke interrupts collectives, and that these return the errors of ULFM.
bool is_job_fault_tolerant() {
  const char* const value = std::getenv("OMPI_MCA_mpi_ft_enable");
  const std::string_view word = value == nullptr ? "" : value;
  return word == "1" || word == "true";
}

}  // namespace

struct Activation::Facts {
  bool has_memory;    // false: the other members are invalid
  bool has_members;   // the rank knows the members; false: the members below are invalid
  bool has_context;   // the rank has discovered its machine already
  bool has_progress;  // the rank can progress the MPI while it waits
  Range node;
  Range settings;
  Offers offers;
  Range group;                // number of the cached group configuration; 0: none
  std::uint64_t next_number;  // the number of a new team, taken from the lowest rank
  int free_tag;               // for a team over several nodes; 0: none is left
  ActivationTerms terms;

  bool are_on_one_node() const { return node.is_one(); }
  // Combines the facts of some ranks with those of higher ranks.
  void combine(const Facts& higher) {
    has_memory = has_memory && higher.has_memory;
    has_members = has_members && higher.has_members;
    has_context = has_context && higher.has_context;
    has_progress = has_progress && higher.has_progress;
    node.combine(higher.node);
    settings.combine(higher.settings);
    offers.combine(higher.offers);
    group.combine(higher.group);
    const bool has_tags = free_tag != 0 && higher.free_tag != 0;
    free_tag = has_tags ? std::max(free_tag, higher.free_tag) : 0;
    terms.combine(higher.terms);
  }
};

Activation::Activation(const UnderlyingMpi& real, const Types& types, const Options& options,
                       WorldRanks& world_ranks, Presence& presence, NodeContext& context,
                       InterNode& inter_node, MpiProgress& mpi_progress, Warn warn)
    : real_(real),
      types_(types),
      options_(options),
      world_ranks_(world_ranks),
      presence_(presence),
      context_(context),
      inter_node_(inter_node),
      placement_check_(presence.ranks_here(), warn),
      nodes_(context, inter_node, options, placement_check_),
      mpi_progress_(mpi_progress),
      warn_(std::move(warn)),
      first_vote_(options.activate_after.value_or(first_vote)),
      settings_(options.digest()),
      is_fault_tolerant_(is_job_fault_tolerant()),
      pool_(pool_bytes),
      team_ns_(usual_team_ns) {}

void Activation::count(Communicator& communicator) {
  ++communicator.calls;
  if (communicator.calls > std::max(first_vote_, communicator.next_vote)) activate(communicator);
}

void Activation::leave(Communicator& communicator) noexcept {
  Entry& entry = communicator.entry;
  if (communicator.team) {
    entry.team = std::move(communicator.team);
    entry.team->note_tuning();
    entry.calls = entry.team->calls();
    pool_.put(std::move(entry));
  } else if (!entry.members.empty()) {
    past_calls_.add(std::move(entry.members), communicator.mpi_ns);
  }
}

// A rank that lacks the memory to translate the ranks still takes part in the agreement, so that
// all ranks get the same result.
void Activation::activate(Communicator& communicator) {
  communicator.fallback = FallbackReason::none;
  communicator.why =
      team::RankError::of([&] { communicator.fallback = resolve_members(communicator); });
  if (communicator.fallback != FallbackReason::none) return;
  PooledTeam pooled;
  communicator.fallback = agree(communicator, pooled);
  if (communicator.fallback != FallbackReason::none || communicator.internode) return;
  if (pooled.entry.team == nullptr) {
    communicator.why = team::RankError::of([&] { make_team(communicator, pooled); });
    if (communicator.why.is_any()) communicator.fallback = FallbackReason::failed_set_up;
  }
  communicator.team = std::move(pooled.entry.team);
  communicator.entry.number = pooled.entry.number;
  communicator.entry.calls = pooled.entry.calls;
}

// Determines the members' ranks in the job. Returns a fallback reason if a member is not present:
// such a rank is on another node or runs without huddle, so it would not take part in the
// agreement. All ranks return the same reason without communication. If inter-node communication is
// open, all ranks of the job are known to run huddle. A rank with several sessions does not know
// the members of a session's communicator, but other ranks may know them: it takes part in their
// agreement if all ranks of the job are present, and the result is the reason for all.
FallbackReason Activation::resolve_members(Communicator& communicator) {
  if (!communicator.entry.members.empty()) return FallbackReason::none;
  if (is_fault_tolerant_) return FallbackReason::fault_tolerance;
  WorldRanks::Ranks ranks = world_ranks_.ranks_of(communicator);
  const bool is_unknown = ranks.fallback == FallbackReason::several_sessions;
  if (is_unknown && is_job_here()) return FallbackReason::none;
  if (ranks.fallback != FallbackReason::none) return ranks.fallback;
  const auto& in_job = ranks.in_job;
  const auto missing = std::find_if_not(in_job.begin(), in_job.end(),
                                        [this](int rank) { return presence_.is_here(rank); });
  if (missing != in_job.end() && !inter_node_.is_open()) {
    return reason_for_missing(*missing, in_job[static_cast<std::size_t>(communicator.rank)]);
  }
  communicator.entry.members = std::move(ranks.in_job);
  return FallbackReason::none;
}

// Returns whether all ranks of the job are on this node and run huddle.
bool Activation::is_job_here() {
  if (!presence_.is_job_on_one_node()) return false;
  int rank = 0;
  while (rank < presence_.ranks_here() && presence_.is_here(rank)) ++rank;
  return rank == presence_.ranks_here();
}

FallbackReason Activation::reason_for_missing(int rank, int own) {
  if (!presence_.is_job_on_one_node()) return FallbackReason::several_nodes;
  // The lowest rank with huddle prints the warning.
  int lowest = 0;
  while (lowest < own && !presence_.is_here(lowest)) ++lowest;
  if (lowest == own) {
    warn_(fmt::format(
        "rank {} runs without huddle, or with a different HUDDLE_ACTIVATE_AFTER: the MPI runs "
        "every collective in which it takes part; start all ranks with the same huddle and "
        "settings",
        rank));
  }
  return FallbackReason::without_huddle;
}

// Only the lowest rank of each node discovers the machine.
std::uint64_t Activation::cost_of_context_ns(const Communicator& communicator) {
  if (is_first_here(communicator) && !context_.knows_machine()) return machine_ns;
  return context_.is_prepared() ? prepared_context_ns : context_ns;
}

Activation::Facts Activation::facts_of(const Communicator& communicator, const PooledTeam& pooled) {
  // Not std::call_once, because a bad_alloc would have to pass through the C library.
  if (node_ == 0) node_ = this_node();
  const bool has_context = context_.is_there();
  const std::uint64_t discovery_ns = has_context ? 0 : cost_of_context_ns(communicator);
  const std::uint64_t nodes_set_up_ns = nodes_team_ns_;
  return {.has_memory = true,
          .has_members = true,
          .has_context = has_context,
          .has_progress = mpi_progress_.start(),
          .node = Range(node_),
          .settings = Range(settings_),
          .offers = {Range(pooled.entry.number), Range(pooled.entry.calls)},
          .group = Range(pooled.known.number),
          .next_number = numbers_.fetch_add(1) + 1,
          .free_tag = inter_node_.free_tag(),
          .terms = {communicator.mpi_ns, past_calls_.ns_of(communicator.entry.members),
                    team_ns_ + discovery_ns,
                    (nodes_set_up_ns == 0 ? usual_nodes_team_ns : nodes_set_up_ns) + discovery_ns}};
}

FallbackReason Activation::agree(Communicator& communicator, PooledTeam& pooled) {
  Facts facts{};
  if (!communicator.why.is_any()) {
    communicator.why = team::RankError::of([&] {
      if (communicator.entry.members.empty()) {
        facts.has_memory = true;
        return;
      }
      const team::CpuBinding here = team::cpu_binding_of_this_thread(0);
      pooled.entry = pool_.take(communicator.entry.members, here);
      pooled.known = pool_.group(communicator.entry.members, here);
      facts = facts_of(communicator, pooled);
    });
  }
  if (!agree_on_facts(facts, communicator)) return FallbackReason::failed_set_up;
  const FallbackReason fallback = check_facts(facts);
  return fallback == FallbackReason::none ? obtain_team(communicator, pooled, facts) : fallback;
}

// Combines the facts of all ranks; returns false if that fails. With inter-node communication, the
// ranks use recursive doubling, which stores no other rank's facts but requires that the members
// are known. Takes about as long as a small collective of the MPI.
bool Activation::agree_on_facts(Facts& facts, Communicator& communicator) {
  if (inter_node_.is_open()) {
    if (communicator.entry.members.empty()) return false;
    const team::RankError rank_error = team::RankError::of([&] {
      const auto wire = inter_node_.set_up_wire(communicator.entry.members);
      facts = internode::SetUpExchange(*wire, communicator.rank, communicator.ranks).agree(facts);
    });
    if (rank_error.is_any()) communicator.why = rank_error;
    return !rank_error.is_any();
  }
  return team::with_room_by_rank<Facts>(communicator.ranks, [&](std::span<Facts> all) {
    if (!tell(all, facts, communicator)) return false;
    facts = all.front();
    for (const Facts& higher : all.subspan(1)) facts.combine(higher);
    return true;
  });
}

FallbackReason Activation::check_facts(const Facts& all) const {
  if (!all.has_memory) return FallbackReason::failed_set_up;
  if (!all.has_members) return FallbackReason::several_sessions;
  if (!inter_node_.is_open() && !all.are_on_one_node()) return FallbackReason::several_nodes;
  if (!all.settings.is_one()) return FallbackReason::different_settings;
  return all.has_progress ? FallbackReason::none : FallbackReason::failed_set_up;
}

FallbackReason Activation::obtain_team(Communicator& communicator, PooledTeam& pooled,
                                       const Facts& all) {
  if (keep_common(pooled.entry, all)) return FallbackReason::none;
  const ActivationDecision decision = decide(communicator, all);
  if (!decision.is_due) {
    if (decision.is_near && !all.has_context && is_first_here(communicator))
      context_.start_discovery();
    communicator.next_vote = decision.next_vote;
    return FallbackReason::not_activated;
  }
  if (!all.are_on_one_node()) {
    // Two ranks on two nodes exchange one message each way, no matter whether huddle or the MPI
    // sends it.
    const bool is_forced = !options_.net_algorithms.empty();
    return communicator.ranks == 2 && !is_forced ? FallbackReason::faster_in_mpi
                                                 : activate_over_nodes(communicator, all);
  }
  pooled.entry.number = all.next_number;
  const bool same_group = all.group.least != 0 && all.group.is_one();
  if (!same_group) pooled.known = {};
  return all.has_context || share_machine(communicator) ? FallbackReason::none
                                                        : FallbackReason::failed_set_up;
}

ActivationDecision Activation::decide(const Communicator& communicator, const Facts& all) const {
  if (options_.activate_after) return {.is_due = true};
  return decide_activation(communicator.calls,
                           all.are_on_one_node() ? all.terms : all.terms.over_nodes());
}

// Returns whether this is the communicator's lowest rank on this node.
bool Activation::is_first_here(const Communicator& communicator) {
  const std::span<const int> members = communicator.entry.members;
  const auto lower = members.first(static_cast<std::size_t>(communicator.rank));
  return std::none_of(lower.begin(), lower.end(),
                      [this](int rank) { return presence_.is_here(rank); });
}

// Returns whether the ranks reuse a pooled team: all have taken the same team from their pools and
// have made the same number of calls with it. Otherwise returns the team to the pool, or drops it
// if another rank has a newer one: numbers increase, so the other ranks never offer it again.
bool Activation::keep_common(Entry& entry, const Facts& all) {
  if (all.offers.are_one()) return true;
  if (!all.offers.are_newer(entry.number)) pool_.put(std::move(entry));
  entry = {};
  return false;
}

// Gathers `mine` of all ranks in `all`. Returns false if the MPI fails. Uses an allgather, because
// the MPI's reductions may need more stack than the calling thread has (130 KiB in Debian's MPICH).
template <class Words>
bool Activation::tell(std::span<Words> all, const Words& mine, const Communicator& communicator) {
  return gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(all), communicator);
}

bool Activation::all_agree(bool mine, const Communicator& communicator) {
  return team::with_room_by_rank<std::uint8_t>(
      communicator.ranks, [&](std::span<std::uint8_t> all) {
        return tell(all, static_cast<std::uint8_t>(mine), communicator) &&
               std::all_of(all.begin(), all.end(), [](std::uint8_t agrees) { return agrees != 0; });
      });
}

bool Activation::gather(std::span<const std::byte> mine, std::span<std::byte> all,
                        const Communicator& communicator) {
  const Datatype byte = types_.named("MPI_BYTE");
  const auto bytes = static_cast<int>(mine.size());
  return real_.allgather(mine.data(), bytes, byte, all.data(), bytes, byte,
                         communicator.handle.load()) == success;
}

// Broadcasts `text` from the lowest rank. Returns true if all ranks received it.
bool Activation::share_text(std::string& text, Communicator& communicator) {
  const Comm comm = communicator.handle.load();
  std::uint64_t bytes = text.size();
  real_.bcast(&bytes, 1, types_.named("MPI_UINT64_T"), 0, comm);
  const team::RankError rank_error = team::RankError::of([&] { text.resize(bytes); });
  if (!all_agree(bytes > 0 && !rank_error.is_any(), communicator)) return false;
  return real_.bcast(text.data(), static_cast<int>(bytes), types_.named("MPI_BYTE"), 0, comm) ==
         success;
}

// Creates the context of each rank from the lowest rank's machine text. Returns true if all ranks
// succeeded.
bool Activation::share_machine(Communicator& communicator) {
  std::string text;  // remains empty if the lowest rank fails
  communicator.why = team::RankError::of([&] {
    if (communicator.rank == 0) text = context_.machine_text();
  });
  if (!share_text(text, communicator)) return false;
  communicator.why = team::RankError::of([&] { context_.make(text); });
  return all_agree(!communicator.why.is_any(), communicator);
}

FallbackReason Activation::activate_over_nodes(Communicator& communicator, const Facts& all) {
  const auto start = Clock::now();
  communicator.why = team::RankError::of([&] {
    const auto wire = inter_node_.set_up_wire(communicator.entry.members);
    internode::SetUpExchange exchange(*wire, communicator.rank, communicator.ranks);
    communicator.internode = nodes_.make(exchange, {node_, context_.is_there(), all.free_tag},
                                         communicator.entry.members, communicator.data);
  });
  if (communicator.why.is_any()) return FallbackReason::failed_set_up;
  // Doubled to include the set-up in the team's first calls.
  const std::uint64_t before_ns = nodes_team_ns_;
  const std::uint64_t now_ns = 2 * ns_since(start);
  nodes_team_ns_ = before_ns == 0 ? now_ns : std::min(before_ns, now_ns);
  return FallbackReason::none;
}

// If all ranks have cached the same configuration of the group, they exchange only the location of
// their memory.
void Activation::make_team(Communicator& communicator, PooledTeam& pooled) {
  const auto allgather = [&](std::span<const std::byte> mine, std::span<std::byte> all) {
    if (gather(mine, all, communicator)) return;
    throw FailureError("the MPI could not gather the data for setting up a team");
  };
  team::Bootstrap bootstrap{communicator.rank, communicator.ranks, std::cref(allgather)};
  const auto start = Clock::now();
  auto& team = pooled.entry.team;
  if (pooled.known.group) {
    team = team::make_or<team::Team>([&] { team::decline_in_known_group(bootstrap); },
                                     context_.get(), bootstrap, pooled.known.group);
  } else {
    const machine::Topology& topology = context_.get().machine().topology;
    const std::vector<int> page_nodes = placement_check_.sample(communicator.data, topology);
    bootstrap.page_nodes = page_nodes;
    team = team::make_or_decline<team::Team>(bootstrap, context_.get(), bootstrap);
    placement_check_.check(*team->group(), topology, communicator.entry.members, communicator.rank);
    pool_.keep_group(communicator.entry.members, communicator.rank,
                     {pooled.entry.number, team->group()});
  }
  if (team->ranks_force_different_algorithms() && communicator.rank == 0) {
    warn_("HUDDLE_ALGO differs between ranks: all ranks use the value of the lowest rank");
  }
  // Doubled to include the set-up in the team's first calls.
  team_ns_ = std::min(team_ns_.load(), 2 * ns_since(start));
}

}  // namespace huddle::mpi
