// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The profile of one MPI process. Counting takes a look-up for each message, and a lock only where
// the program has asked for MPI_THREAD_MULTIPLE.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "mpi/stub/door.h"
#include "placement/profile/back_end/book.h"
#include "placement/profile/back_end/collective_call.h"
#include "placement/profile/back_end/mpi.h"
#include "placement/profile/back_end/peers.h"
#include "placement/profile/back_end/type_sizes.h"

namespace huddle::profile {

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
