// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/profile/back_end/profiler.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "placement/profile/collector.h"

namespace huddle::profile {

Flow* Book::flow(std::int32_t from, std::int32_t to, FlowKind kind) {
  if (phase_ == 0) return &nobody_;
  Flow*& known = flows_[{from, to, phase_, kind}];
  if (known == nullptr) known = part_.add({.from = from, .to = to, .phase = phase_, .kind = kind});
  return known != nullptr ? known : &nobody_;
}

namespace {

// Largest communicator whose collectives are spread over pairs. With more ranks each part of the
// profile would need one flow per pair.
constexpr int most_spread = 4096;

}  // namespace

Peers::Peers(const Mpi& mpi, const World& world, Book& book, Group group)
    : mpi_(mpi), world_(world), book_(book), group_(group), slots_(first_slots) {
  mpi_.group_rank(group_, &own_rank_);
  mpi_.group_size(group_, &size_);
}

int Peers::world_rank(int rank) const {
  int in_world = undefined;
  if (mpi_.group_translate_ranks(group_, 1, &rank, world_.group, &in_world) != success ||
      in_world == undefined) {
    return outside_world;
  }
  return in_world;
}

// Doubles the cache after repeated conflicts, unless it already has 8 slots per rank.
Flow& Peers::find(int rank, FlowKind kind, Way way) {
  const std::uint32_t key = key_of(rank, kind, way);
  const Slot& before = slots_[place_of(key)];
  const bool is_taken = before.epoch == book_.epoch() && before.key != key;
  if (is_taken && ++misses_ > slots_.size() &&
      slots_.size() < 8 * static_cast<std::size_t>(size())) {
    slots_.assign(slots_.size() * 2, Slot{});
    misses_ = 0;
  }
  const int other = world_rank(rank);
  Flow* const flow = way == Way::to_other ? book_.flow(world_.rank, other, kind)
                                          : book_.flow(other, world_.rank, kind);
  slots_[place_of(key)] = {key, book_.epoch(), flow};
  return *flow;
}

// The first blocks are one byte longer if the size does not divide evenly.
std::uint64_t Peers::part_of(int rank) const {
  const auto ranks = static_cast<std::uint64_t>(size_);
  return parted_.bytes / ranks + (static_cast<std::uint64_t>(rank) < parted_.bytes % ranks ? 1 : 0);
}

// An allreduce counts as reduce_scatter plus allgather: each rank sends each other rank its
// contribution to that rank's block, and later its own reduced block.
void Peers::spread() {
  if (each_.calls == 0 && parted_.calls == 0) return;
  if (size_ > most_spread) book_.leave_out(each_.calls + parted_.calls);
  for (int rank = 0; size_ <= most_spread && rank < size_; ++rank) {
    if (rank == own_rank_) continue;
    Flow& to = flow(rank, FlowKind::collective, Way::to_other);
    to.bytes += each_.bytes;
    to.messages += each_.calls + 2 * parted_.calls;
    if (parted_.calls > 0) to.bytes += part_of(rank) + part_of(own_rank_);
  }
  each_ = {};
  parted_ = {};
}

namespace {

std::string host_name() {
  std::array<char, most_host_letters + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

Op operator_named(std::string_view name, Find find) {
  const auto* const found =
      std::find_if(operators.begin(), operators.end(),
                   [&](const Predefined& predefined) { return predefined.name == name; });
  return handle<Op>(*found, find);
}

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

}  // namespace

Profiler::Profiler(const huddle_stub_interface& stub)
    : mpi_(stub.real),
      sizes_(mpi_, stub.real),
      world_comm_(handle<Comm>(comm_world, stub.real)),
      no_comm_(handle<Comm>(comm_null, stub.real)),
      no_op_(operator_named("MPI_NO_OP", stub.real)) {}

void Profiler::begin() {
  Comm parent = no_comm_;
  Group world{};
  mpi_.comm_get_parent(&parent);
  int threads = thread_single;
  mpi_.query_thread(&threads);
  if (mpi_.comm_group(world_comm_, &world) != success) return;
  open(world, parent != no_comm_, threads == thread_multiple ? State::threads : State::one_thread);
}

void Profiler::begin(Session session) {
  Group world{};
  if (part_ || mpi_.group_from_session_pset(session, "mpi://WORLD", &world) != success) return;
  // A session may use threads, and none of its calls is known to be the last one.
  open(world, false, State::threads);
  std::atexit([] { profiler().end(); });
}

void Profiler::open(Group world, bool was_spawned, State state) {
  if (part_) return;
  world_.group = world;
  mpi_.group_rank(world, &world_.rank);
  mpi_.group_size(world, &world_.ranks);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  part_.emplace(value_of("_HUDDLE_PROFILE"), Who{.rank = world_.rank,
                                                 .ranks = world_.ranks,
                                                 .begun_ns = std::chrono::nanoseconds(now).count(),
                                                 .was_spawned = was_spawned,
                                                 .host = host_name()});
  book_.emplace(*part_);
  state_ = state;
}

void Profiler::end() {
  if (state_ == State::off) return;
  const auto lock = hold();
  state_ = State::off;
  spread();
  part_->end();
  if (!part_->is_in_file()) deliver(value_of("_HUDDLE_PROFILE_TO"), part_->bytes());
}

void Profiler::spread() {
  for (const auto& [comm, peers] : comms_) peers->spread();
}

void Profiler::note(const char* call, const long* words, int count) {
  if (state_ == State::off) return;
  const auto lock = hold();
  const CollectiveForm& form = forms_.of(call);
  if (!form.is_persistent) return count_collective({form, words});
  const Request request = *pointer_in<const Request*>(words[count - 1]);
  const std::vector<long> arguments(words, words + count);
  kept_[request] = [this, &form, arguments] { count_collective({form, arguments.data()}); };
}

void Profiler::release() {
  comms_.clear();
  windows_.clear();
  if (part_) mpi_.group_free(&world_.group);
}

Peers& Profiler::find(Comm comm) {
  std::unique_ptr<Peers>& known = comms_[comm];
  if (known == nullptr) {
    int is_inter = 0;
    Group group{};
    mpi_.comm_test_inter(comm, &is_inter);
    (is_inter != 0 ? mpi_.comm_remote_group : mpi_.comm_group)(comm, &group);
    known = std::make_unique<Peers>(mpi_, world_, *book_, group);
  }
  last_comm_ = comm;
  last_peers_ = known.get();
  return *known;
}

void Profiler::sent_by_threads(Comm comm, int to, Count elements, Datatype type) {
  if (state_ == State::off) return;
  const auto lock = hold();
  count(peers_of(comm).flow(to, FlowKind::point_to_point, Way::to_other),
        static_cast<std::uint64_t>(elements) * sizes_.bytes_of(type));
}

Peers& Profiler::peers_in(Win win) {
  std::unique_ptr<Peers>& known = windows_[win];
  if (known == nullptr) {
    Group group{};
    mpi_.win_get_group(win, &group);
    known = std::make_unique<Peers>(mpi_, world_, *book_, group);
  }
  return *known;
}

void Profiler::will_send(Request request, Comm comm, int to, Count elements, Datatype type) {
  if (to < 0 || state_ == State::off) return;
  const auto lock = hold();
  const int to_world = peers_of(comm).world_rank(to);
  const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * sizes_.bytes_of(type);
  kept_[request] = [this, to_world, bytes] {
    count(*book_->flow(world_.rank, to_world, FlowKind::point_to_point), bytes);
  };
}

void Profiler::started(Request before, Request after) {
  if (state_ == State::off) return;
  const auto lock = hold();
  const auto found = kept_.find(before);
  if (found == kept_.end()) return;
  found->second();
  if (before == after) return;
  Kept kept = std::move(found->second);
  kept_.erase(found);
  kept_[after] = std::move(kept);
}

void Profiler::forget_request(Request request) {
  const auto lock = hold();
  kept_.erase(request);
}

void Profiler::forget_communicator(Comm comm) {
  const auto lock = hold();
  const auto found = comms_.find(comm);
  if (found == comms_.end()) return;
  if (state_ != State::off) found->second->spread();
  comms_.erase(found);
  last_peers_ = nullptr;
}

void Profiler::forget_window(Win win) {
  const auto lock = hold();
  windows_.erase(win);
}

void Profiler::set_phase(int phase) {
  if (state_ == State::off) return;
  const auto lock = hold();
  spread();
  book_->set_phase(phase < 0 ? first_phase : phase);
}

}  // namespace huddle::profile
