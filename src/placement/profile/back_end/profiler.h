// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The profile of one MPI process. Counting costs one look-up per message, and a lock only if the
// program runs with MPI_THREAD_MULTIPLE or sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpi/stub/stub_interface.h"
#include "placement/profile/back_end/profiled_mpi.h"
#include "placement/profile/document.h"

namespace huddle::profile {

// The flows of this rank: one per pair, kind and phase.
class Book {
 public:
  explicit Book(OwnPart& part) : part_(part) {}

  // Returns the flow that counts this pair in the current phase. The pointer stays valid; the flow
  // of the pair changes with the phase.
  Flow* flow(std::int32_t from, std::int32_t to, FlowKind kind);

  void leave_out(std::uint64_t collectives) { part_.leave_out(collectives); }

  // Changes whenever flow() may return another flow than before.
  std::uint32_t epoch() const { return epoch_; }

  // Starts phase `phase`; 0 stops counting.
  void set_phase(std::int32_t phase) {
    phase_ = phase;
    ++epoch_;
  }

 private:
  struct Key {
    std::int32_t from, to, phase;
    FlowKind kind;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::size_t hash = 0;
      for (const auto part : {key.from, key.to, key.phase, static_cast<std::int32_t>(key.kind)}) {
        hash = hash * 0x9e3779b97f4a7c15U + static_cast<std::uint32_t>(part);
      }
      return hash;
    }
  };

  OwnPart& part_;
  std::unordered_map<Key, Flow*, Hash> flows_;
  std::int32_t phase_ = first_phase;
  std::uint32_t epoch_ = 1;
  Flow nobody_;  // sink for traffic that is not counted
};

// MPI_COMM_WORLD, or the world process set of a session.
struct World {
  Group group;
  int rank = 0;
  int ranks = 0;
};

// Direction of the bytes between this rank and the peer.
enum class Way { to_other, from_other };

// The ranks that this rank reaches through one communicator or window, with a cache of the flows to
// them. The cache contains only flows that have been used.
class Peers {
 public:
  // `group` contains the peers in the order of their ranks in the communicator or window. Takes
  // ownership of it and frees it on destruction.
  Peers(const Mpi& mpi, const World& world, Book& book, Group group);
  ~Peers() { mpi_.group_free(&group_); }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // Requires: `rank` is a rank of the group.
  Flow& flow(int rank, FlowKind kind, Way way) {
    const std::uint32_t key = key_of(rank, kind, way);
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key && slot.epoch == book_.epoch() ? *slot.flow : find(rank, kind, way);
  }

  int size() const { return size_; }
  // MPI_UNDEFINED if the group is the remote group of an intercommunicator.
  int own_rank() const { return own_rank_; }
  bool is_remote() const { return own_rank_ == undefined; }
  // Returns the rank in MPI_COMM_WORLD, or outside_world.
  int world_rank(int rank) const;

  // Collectives are summed up here; spread() adds the sums to the flows.
  void to_each(std::uint64_t bytes) { add(each_, bytes); }
  void in_parts(std::uint64_t bytes) { add(parted_, bytes); }
  void spread();

 private:
  static constexpr std::size_t first_slots = 16;  // all sizes are powers of two

  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t epoch = 0;  // 0: empty slot
    Flow* flow = nullptr;
  };

  struct Sum {
    std::uint64_t bytes = 0;
    std::uint64_t calls = 0;
  };
  static void add(Sum& sum, std::uint64_t bytes) {
    sum.bytes += bytes;
    ++sum.calls;
  }
  std::uint64_t part_of(int rank) const;

  static std::uint32_t key_of(int rank, FlowKind kind, Way way) {
    return static_cast<std::uint32_t>(rank) << 3U | static_cast<std::uint32_t>(kind) << 1U |
           static_cast<std::uint32_t>(way);
  }
  std::size_t place_of(std::uint32_t key) const {
    return (key * 0x9e3779b1U >> 7U) & (slots_.size() - 1);
  }
  Flow& find(int rank, FlowKind kind, Way way);

  const Mpi& mpi_;
  const World& world_;
  Book& book_;
  Group group_;
  int own_rank_ = undefined;
  int size_ = 0;
  Sum each_;    // bytes that go to each other rank
  Sum parted_;  // bytes that are reduced in blocks, each of which then goes to each other rank
  std::vector<Slot> slots_;  // direct-mapped cache: flows with the same slot evict each other
  std::size_t misses_ = 0;
};

class Profiler {
 public:
  explicit Profiler(const huddle_stub_interface& stub);

  const Mpi& mpi() const { return mpi_; }

  // Counts a send that the MPI has accepted: `elements` elements of `type` to rank `to` of `comm`.
  void sent(Comm comm, int to, Count elements, Datatype type) {
    if (to < 0) return;
    if (state_ != State::one_thread) return sent_by_threads(comm, to, elements, type);
    count(peers_of(comm).flow(to, FlowKind::point_to_point, Way::to_other),
          static_cast<std::uint64_t>(elements) * sizes_.bytes_of(type));
  }
  // Counts a one-sided transfer.
  void moved(Win win, int target, Way way, Count elements, Datatype type) {
    if (target < 0 || state_ == State::off) return;
    const auto lock = hold();
    count(peers_in(win).flow(target, FlowKind::one_sided, way),
          static_cast<std::uint64_t>(elements) * sizes_.bytes_of(type));
  }

  // Registers a persistent request, counted at each start. A partitioned send is one message.
  void will_send(Request request, Comm comm, int to, Count elements, Datatype type);
  // Counts a start. The MPI may have replaced the handle `before` by `after`.
  void started(Request before, Request after);

  // Counts a collective that the stub reports; see stub/note.h for the arguments.
  void note(const char* call, const long* words, int count);

  bool is_no_op(Op op) const { return op == no_op_; }

  // Remove what is known about a handle that the MPI may reuse for another object.
  void forget_request(Request request);
  void forget_communicator(Comm comm);
  void forget_window(Win win);

  void set_phase(int phase);

  // Start and end counting. The world of a session is its process set mpi://WORLD.
  void begin();
  void begin(Session session);
  void end();
  // Frees the MPI's groups.
  // Requires: MPI is not finalized.
  void release();

 private:
  // State of counting. In the state `threads`, counting requires the lock.
  enum class State { off, one_thread, threads };

  // Counts one start of a persistent request.
  using Kept = std::function<void()>;

  std::unique_lock<std::mutex> hold() {
    std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
    if (state_ == State::threads) lock.lock();
    return lock;
  }
  static void count(Flow& flow, std::uint64_t bytes) {
    flow.bytes += bytes;
    ++flow.messages;
  }
  Peers& peers_of(Comm comm) {
    return comm == last_comm_ && last_peers_ != nullptr ? *last_peers_ : find(comm);
  }
  Peers& peers_in(Win win);
  Peers& find(Comm comm);
  void sent_by_threads(Comm comm, int to, Count elements, Datatype type);
  void count_collective(const CollectiveCall& call);
  void spread();
  void open(Group world, bool was_spawned, State state);

  Mpi mpi_;
  TypeSizes sizes_;
  Comm world_comm_;
  Comm no_comm_;
  Op no_op_;
  State state_ = State::off;
  std::mutex mutex_;
  World world_{};
  std::optional<OwnPart> part_;
  std::optional<Book> book_;
  Comm last_comm_{};
  Peers* last_peers_ = nullptr;
  std::unordered_map<Comm, std::unique_ptr<Peers>> comms_;
  std::unordered_map<Win, std::unique_ptr<Peers>> windows_;
  std::unordered_map<Request, Kept> kept_;
  CollectiveForms forms_;
};

// Returns the profiler of this process, which is created by huddle_back_end_init() and never
// destroyed.
Profiler& profiler();

// The MPI's functions that send, for counts of type int and MPI_Count.
inline const Sends<int>& small() { return profiler().mpi().small; }
inline const Sends<Count>& large() { return profiler().mpi().large; }

}  // namespace huddle::profile
