// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/joining.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "team/process_identity.h"

namespace huddle::mpi {
namespace {

// A call that moves much gains more from a team than one that moves little: so many bytes count as
// one call more. About what a core copies in the time that a small collective of an MPI takes.
constexpr std::size_t bytes_of_a_call = 16 << 10;

// Processes share memory where they run on one kernel, and their MPI says that they are one node:
// containers and test beds that pass for nodes of their own stay so.
std::uint64_t this_node() {
  const team::ProcessIdentity identity = team::ProcessIdentity::mine();
  utsname names{};
  uname(&names);
  return identity.machine ^ std::hash<std::string>()(names.nodename) ^
         (identity.pid_namespace * 0x9e3779b97f4a7c15U);
}

// What a rank says of itself, for all to see what they have in common.
struct Facts {
  std::uint64_t node;
  std::uint64_t settings;
  bool has_context;   // it knows its machine already
  bool has_progress;  // it can keep the MPI moving
};

}  // namespace

Joining::Joining(const Real& real, const Types& types, const Options& options, Roster& roster,
                 RollCall& roll_call, NodeContext& context, Pulse& pulse, Complain warn)
    : real_(real),
      types_(types),
      options_(options),
      roster_(roster),
      roll_call_(roll_call),
      context_(context),
      pulse_(pulse),
      warn_(std::move(warn)) {}

void Joining::count(Communicator& communicator, std::size_t bytes) {
  communicator.use += 1 + bytes / bytes_of_a_call;
  if (communicator.use > options_.join_after) join(communicator);
}

void Joining::join(Communicator& communicator) {
  communicator.passed = meet(communicator);
  if (communicator.passed == Passed::not_passed) communicator.passed = agree(communicator);
  if (communicator.passed != Passed::not_passed) return;
  try {
    make_team(communicator);
  } catch (const std::exception& error) {
    communicator.passed = Passed::no_team;
    communicator.why = error.what();
  }
}

// What each rank finds by itself, and all alike. Whoever is missing is on another node, or would
// never answer.
Passed Joining::meet(Communicator& communicator) {
  const Roster::Ranks ranks = roster_.ranks_of(communicator);
  if (ranks.passed != Passed::not_passed) return ranks.passed;
  const auto& in_job = ranks.in_job;
  const auto missing = std::find_if_not(in_job.begin(), in_job.end(),
                                        [this](int rank) { return roll_call_.is_here(rank); });
  return missing == in_job.end()
             ? Passed::not_passed
             : judge_missing(*missing, in_job[static_cast<std::size_t>(communicator.rank)]);
}

Passed Joining::judge_missing(int rank, int own) {
  if (!roll_call_.is_job_on_one_node()) return Passed::several_nodes;
  // The lowest rank that has huddle speaks for all.
  int lowest = 0;
  while (lowest < own && !roll_call_.is_here(lowest)) ++lowest;
  if (lowest == own) {
    warn_(
        fmt::format("rank {} runs without huddle, or with another HUDDLE_JOIN_AFTER: collectives "
                    "that it takes part in go to the MPI",
                    rank));
  }
  return Passed::without_huddle;
}

Passed Joining::agree(Communicator& communicator) {
  const Facts mine{this_node(), options_.digest(), context_.is_there(), pulse_.start()};
  const std::vector<Facts> all = everybodys(mine, communicator);
  const auto everywhere = [&](auto holds) { return std::all_of(all.begin(), all.end(), holds); };
  if (all.empty()) return Passed::no_team;
  if (!everywhere([&](const Facts& rank) { return rank.node == mine.node; })) {
    return Passed::several_nodes;
  }
  if (!everywhere([&](const Facts& rank) { return rank.settings == mine.settings; })) {
    return Passed::unlike_settings;
  }
  if (!everywhere([](const Facts& rank) { return rank.has_progress; })) return Passed::no_team;
  const bool knows_machine =
      everywhere([](const Facts& rank) { return rank.has_context; }) || share_machine(communicator);
  return knows_machine ? Passed::not_passed : Passed::no_team;
}

// By rank; nothing where the MPI fails. The MPI only gathers: what it does to reduce may want more
// stack than the thread has that came here (Debian's MPICH: 130 KiB).
template <class Words>
std::vector<Words> Joining::everybodys(const Words& mine, const Communicator& communicator) {
  std::vector<Words> all(static_cast<std::size_t>(communicator.ranks));
  const bool is_done = gather(std::as_bytes(std::span(&mine, 1)),
                              std::as_writable_bytes(std::span(all)), communicator);
  return is_done ? all : std::vector<Words>();
}

bool Joining::gather(std::span<const std::byte> mine, std::span<std::byte> all,
                     const Communicator& communicator) {
  const Datatype byte = types_.named("MPI_BYTE");
  const auto bytes = static_cast<int>(mine.size());
  return real_.allgather(mine.data(), bytes, byte, all.data(), bytes, byte,
                         communicator.handle.load()) == success;
}

// From the lowest rank to all; true where everybody made use of it.
bool Joining::share_machine(Communicator& communicator) {
  const Comm comm = communicator.handle.load();
  std::string text;
  std::uint64_t bytes = 0;  // stays 0 where the lowest rank fails
  try {
    if (communicator.rank == 0) text = context_.machine_text();
    bytes = text.size();
  } catch (const std::exception& error) {
    communicator.why = error.what();
  }
  real_.bcast(&bytes, 1, types_.named("MPI_UINT64_T"), 0, comm);
  text.resize(bytes);
  real_.bcast(text.data(), static_cast<int>(bytes), types_.named("MPI_BYTE"), 0, comm);
  bool has_made = false;
  try {
    context_.make(text);
    has_made = true;
  } catch (const std::exception& error) {
    if (communicator.why.empty()) communicator.why = error.what();
  }
  const std::vector<std::uint8_t> have_made =
      everybodys(static_cast<std::uint8_t>(has_made), communicator);
  return !have_made.empty() && std::all_of(have_made.begin(), have_made.end(),
                                           [](std::uint8_t made) { return made != 0; });
}

void Joining::make_team(Communicator& communicator) {
  const auto allgather = [&](std::span<const std::byte> mine, std::span<std::byte> all) {
    if (gather(mine, all, communicator)) return;
    throw FailureError("the MPI cannot gather what a team is made from");
  };
  communicator.team = std::make_unique<team::Team>(
      context_.get(), team::Bootstrap{communicator.rank, communicator.ranks, allgather});
}

}  // namespace huddle::mpi
