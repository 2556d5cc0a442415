// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The profile of one MPI process. Counting takes a look-up for each message, and a lock only where
// the program has asked for MPI_THREAD_MULTIPLE.
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

#include "mpi/stub/door.h"
#include "placement/profile/back_end/profiled_mpi.h"
#include "placement/profile/document.h"

namespace huddle::profile {

// The flows of this rank: one for each pair, kind and phase that has been seen.
class Book {
 public:
  explicit Book(OwnPart& part) : part_(part) {}

  // The one to count on now; it stays where it is. Which one that is changes with the phase.
  Flow* flow(std::int32_t from, std::int32_t to, FlowKind kind);

  void leave_out(std::uint64_t collectives) { part_.leave_out(collectives); }

  // Tells whether flow() may give another answer than before.
  std::uint32_t epoch() const { return epoch_; }

  // 0: nothing is counted. Every other number is a phase.
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
  Flow nobody_;  // what is not counted goes here
};

// Whom a rank reaches through one communicator or window: by their ranks there, the flows on which
// to count. Holds those only that were written to.

// Who is who in the world.
struct World {
  Group group;
  int rank = 0;
  int ranks = 0;
};

// Which way bytes go between this rank and the other.
enum class Way { to_other, from_other };

class Peers {
 public:
  // `group` numbers the others as the program does; it is freed with this object.
  Peers(const Mpi& mpi, const World& world, Book& book, Group group);
  ~Peers() { mpi_.group_free(&group_); }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  // pre: `rank` is one of the group
  Flow& flow(int rank, FlowKind kind, Way way) {
    const std::uint32_t key = key_of(rank, kind, way);
    const Slot& slot = slots_[place_of(key)];
    return slot.key == key && slot.epoch == book_.epoch() ? *slot.flow : find(rank, kind, way);
  }

  int size() const { return size_; }
  // `undefined` where the group is that of the others only.
  int own_rank() const { return own_rank_; }
  bool is_remote() const { return own_rank_ == undefined; }
  // In the world; outside_world for others.
  int world_rank(int rank) const;

  // Collectives, which are added up here until they are spread over the flows.
  void to_each(std::uint64_t bytes) { add(each_, bytes); }
  void in_parts(std::uint64_t bytes) { add(parted_, bytes); }
  void spread();

 private:
  static constexpr std::size_t first_slots = 16;  // a power of two, as every later number

  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t epoch = 0;  // of no book
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
  Sum each_;                 // what every other gets
  Sum parted_;               // what is reduced in parts, which then go to every other
  std::vector<Slot> slots_;  // a cache: two that want the same place take it in turns
  std::size_t misses_ = 0;
};

class Profiler {
 public:
  explicit Profiler(const huddle_door& door);

  const Mpi& mpi() const { return mpi_; }

  // What the MPI has just taken: so many elements of a type to a rank of the communicator.
  void sent(Comm comm, int to, Count elements, Datatype type) {
    if (to < 0) return;
    if (state_ != State::one_thread) return sent_by_threads(comm, to, elements, type);
    count(peers_of(comm).flow(to, FlowKind::point_to_point, Way::to_other),
          static_cast<std::uint64_t>(elements) * sizes_.bytes_of(type));
  }
  // One-sided, from this rank to the target, or from there.
  void moved(Win win, int target, Way way, Count elements, Datatype type) {
    if (target < 0 || state_ == State::off) return;
    const auto lock = hold();
    count(peers_in(win).flow(target, FlowKind::one_sided, way),
          static_cast<std::uint64_t>(elements) * sizes_.bytes_of(type));
  }

  // A persistent request, which sends this whenever it is started. A send in parts is one message.
  void will_send(Request request, Comm comm, int to, Count elements, Datatype type);
  // It may be another one afterwards.
  void started(Request before, Request after);

  // A collective is told as words: see stub/note.h.
  void note(const char* call, const long* words, int count);

  bool is_no_op(Op op) const { return op == no_op_; }

  // Handles that are used again for something else.
  void forget_request(Request request);
  void forget_communicator(Comm comm);
  void forget_window(Win win);

  void set_phase(int phase);

  // MPI is there, and goes. A session's world is that of its process set.
  void begin();
  void begin(Session session);
  void end();
  // What was asked of the MPI goes back to it. pre: it is still there
  void release();

 private:
  // Whether anything is counted, and by whom: locks are for those who asked for threads.
  enum class State { off, one_thread, threads };

  // What is counted when a persistent request is started.
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

// The one of this process: made when the stub opens the back end, and never gone.
Profiler& profiler();

// The MPI's own calls that send, with counts of type int and of type MPI_Count.
inline const Sends<int>& small() { return profiler().mpi().small; }
inline const Sends<Count>& large() { return profiler().mpi().large; }

}  // namespace huddle::profile
