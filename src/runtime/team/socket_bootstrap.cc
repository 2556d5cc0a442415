// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/team/socket_bootstrap.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "common/error.h"
#include "runtime/team/bootstrap.h"

namespace huddle::team {
namespace {

bool is_not_now(int error) { return error == EAGAIN || error == EINTR; }

void wait_for(const FileDescriptor& socket, short events, Deadline deadline) {
  pollfd watched{socket.number(), events, 0};
  const int timeout_ms = poll_timeout_ms(deadline);
  if (timeout_ms > 0 && (poll(&watched, 1, timeout_ms) >= 0 || errno == EINTR)) return;
  throw FailureError("no answer within the time limit; check that it runs, or raise the limit");
}

}  // namespace

int poll_timeout_ms(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  constexpr long long most_ms = 3'600'000;  // fits an int; callers poll in a loop
  return static_cast<int>(std::clamp<long long>(left, 0, most_ms));
}

std::pair<FileDescriptor, FileDescriptor> stream_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    throw FailureError(fmt::format("cannot create a pair of sockets: {}{}", std::strerror(errno),
                                   errno == EMFILE ? "; raise `ulimit -n`" : ""));
  }
  FileDescriptor first(ends[0]);
  FileDescriptor second(ends[1]);
  return {above_standard_streams(std::move(first)), above_standard_streams(std::move(second))};
}

void send_all(const FileDescriptor& socket, std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (is_not_now(errno)) {
      wait_for(socket, POLLOUT, deadline);
    } else {
      throw FailureError(
          "the process has ended or closed its connection; see its output for the reason");
    }
  }
}

std::size_t receive_some(const FileDescriptor& socket, std::span<std::byte> bytes) {
  const ssize_t came = recv(socket.number(), bytes.data(), bytes.size(), 0);
  if (came > 0) return static_cast<std::size_t>(came);
  if (came < 0 && is_not_now(errno)) return 0;
  throw FailureError(
      "the process has ended or closed its connection; see its output for the reason");
}

void receive_all(const FileDescriptor& socket, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const std::size_t came = receive_some(socket, bytes);
    if (came == 0) wait_for(socket, POLLIN, deadline);
    bytes = bytes.subspan(came);
  }
}

namespace {

// The header that a rank sends before its bytes, and that the hub sends before the bytes of all
// ranks.
struct Frame {
  std::uint64_t bytes = 0;  // of one rank
  RankError rank_error;     // set by the hub only
};

std::span<const std::byte> bytes_of(const Frame& frame) {
  return std::as_bytes(std::span(&frame, 1));
}

class Hub {
 public:
  Hub(int ranks, HubSockets sockets) : ranks_(ranks), sockets_(std::move(sockets)) {}

  void allgather(bool is_hub, std::span<const std::byte> mine, std::span<std::byte> all) {
    if (all.size() != mine.size() * static_cast<std::size_t>(ranks_)) {
      throw UsageError(
          "the receive buffer of the bootstrap's allgather must have the size of one contribution "
          "times the number of ranks");
    }
    if (is_broken_) {
      throw FailureError(
          "this bootstrap has failed before and cannot be used again; create a new one");
    }
    is_broken_ = true;  // until this allgather succeeds
    try {
      is_hub ? gather_and_tell(mine, all) : send_and_learn(mine, all);
    } catch (...) {
      sockets_.clear();  // makes ranks that wait for this one fail
      throw;
    }
    is_broken_ = false;
  }

 private:
  // The state of a receive from one rank: first its frame, then its bytes, which go directly into
  // `all`.
  class Arrival {
   public:
    explicit Arrival(std::span<std::byte> target) : missing_(target) {}

    bool has_frame() const { return frame_missing_ == 0; }
    bool is_complete() const { return has_frame() && missing_.empty(); }
    std::uint64_t announced_bytes() const { return frame_.bytes; }
    std::span<std::byte> room() {
      if (has_frame()) return missing_;
      return std::as_writable_bytes(std::span(&frame_, 1)).last(frame_missing_);
    }
    void came(std::size_t bytes) {
      if (has_frame()) {
        missing_ = missing_.subspan(bytes);
      } else {
        frame_missing_ -= bytes;
      }
    }

   private:
    Frame frame_;
    std::size_t frame_missing_ = sizeof(Frame);
    std::span<std::byte> missing_;
  };

  void send_and_learn(std::span<const std::byte> mine, std::span<std::byte> all) {
    const FileDescriptor& hub = sockets_.front();
    Frame answer;
    const RankError sending = RankError::of([&] {
      send_all(hub, bytes_of(Frame{mine.size(), {}}), no_deadline);
      send_all(hub, mine, no_deadline);
    });
    // A hub that has failed no longer receives, but it has sent the reason of the failure.
    const RankError receiving = RankError::of(
        [&] { receive_all(hub, std::as_writable_bytes(std::span(&answer, 1)), no_deadline); });
    if (receiving.is_any()) throw FailureError(fmt::format("rank 0: {}", receiving.text()));
    if (answer.rank_error.is_any()) throw FailureError(std::string(answer.rank_error.text()));
    if (sending.is_any()) throw FailureError(fmt::format("rank 0: {}", sending.text()));
    receive_all(hub, all, no_deadline);
  }

  void gather_and_tell(std::span<const std::byte> mine, std::span<std::byte> all) {
    std::copy(mine.begin(), mine.end(), all.begin());
    const RankError rank_error = RankError::of([&] { gather(all, mine.size()); });
    const Frame answer{mine.size(), rank_error};
    for (std::size_t rank = 1; rank < sockets_.size(); ++rank) {
      tell(sockets_[rank], answer, rank_error.is_any() ? std::span<std::byte>() : all);
    }
    if (rank_error.is_any()) throw FailureError(std::string(rank_error.text()));
  }

  // A rank that has just died must not prevent the others from receiving the answer; the next
  // allgather reports its death.
  void tell(FileDescriptor& member, const Frame& answer, std::span<const std::byte> all) {
    const RankError rank_error = RankError::of([&] {
      send_all(member, bytes_of(answer), no_deadline);
      send_all(member, all, no_deadline);
    });
    if (rank_error.is_any()) member = FileDescriptor();
  }

  void gather(std::span<std::byte> all, std::size_t bytes) {
    std::vector<Arrival> arrivals;
    for (std::size_t rank = 0; rank < sockets_.size(); ++rank) {
      arrivals.emplace_back(all.subspan(rank * bytes, bytes));
      if (rank > 0 && !sockets_[rank].is_open()) {
        throw FailureError(fmt::format(
            "rank {} has ended or closed its connection; see its output for the reason", rank));
      }
    }
    std::size_t missing = sockets_.size() - 1;
    while (missing > 0) {
      for (const std::size_t rank : wait_for_some()) {
        if (receive_from(rank, arrivals[rank], bytes)) --missing;
      }
    }
  }

  // Also polls the sockets of ranks whose bytes have arrived, to notice if one of them dies.
  std::vector<std::size_t> wait_for_some() {
    std::vector<pollfd> watched;
    for (const FileDescriptor& socket : sockets_) watched.push_back({socket.number(), POLLIN, 0});
    std::vector<std::size_t> ready;
    constexpr int no_limit = -1;
    const int found = poll(watched.data(), watched.size(), no_limit);
    if (found < 0 && errno != EINTR) {  // retrying would fail in the same way
      throw FailureError(fmt::format("cannot wait for {} ranks at once: {}; raise `ulimit -n`",
                                     ranks_, std::strerror(errno)));
    }
    if (found <= 0) return ready;
    for (std::size_t rank = 1; rank < watched.size(); ++rank) {
      if (watched[rank].revents != 0) ready.push_back(rank);
    }
    return ready;
  }

  // Returns whether the arrival is now complete.
  bool receive_from(std::size_t rank, Arrival& arrival, std::size_t bytes) {
    if (arrival.is_complete()) {
      std::byte unasked{};
      if (receive_named(rank, {&unasked, 1}) == 0) return false;
      throw FailureError(
          fmt::format("rank {} called the bootstrap more often than the others; call it equally "
                      "often on all ranks",
                      rank));
    }
    arrival.came(receive_named(rank, arrival.room()));
    if (arrival.has_frame() && arrival.announced_bytes() != bytes) {
      throw FailureError(
          fmt::format("rank {} contributes {} bytes, but rank 0 contributes {}; pass the same size "
                      "on all ranks",
                      rank, arrival.announced_bytes(), bytes));
    }
    return arrival.is_complete();
  }

  std::size_t receive_named(std::size_t rank, std::span<std::byte> room) {
    try {
      return receive_some(sockets_[rank], room);
    } catch (const FailureError&) {
      throw FailureError(fmt::format(
          "rank {} has ended or closed its connection; see its output for the reason", rank));
    }
  }

  int ranks_;
  HubSockets sockets_;
  bool is_broken_ = false;
};

}  // namespace

std::vector<HubSockets> connected_hub_sockets(int ranks) {
  std::vector<HubSockets> all(static_cast<std::size_t>(ranks));
  all[0].resize(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    std::pair<FileDescriptor, FileDescriptor> ends = stream_pair();
    all[0][rank] = std::move(ends.first);
    all[rank].push_back(std::move(ends.second));
  }
  return all;
}

Bootstrap hub_bootstrap(int rank, int ranks, HubSockets sockets) {
  const auto hub = std::make_shared<Hub>(ranks, std::move(sockets));
  return {rank, ranks,
          [hub, is_hub = rank == 0](std::span<const std::byte> mine, std::span<std::byte> all) {
            hub->allgather(is_hub, mine, all);
          }};
}

ForkBootstrap::ForkBootstrap(int ranks) : places_(connected_hub_sockets(ranks)), ranks_(ranks) {}

Bootstrap ForkBootstrap::take(int rank) {
  return hub_bootstrap(rank, ranks_, std::move(places_.at(static_cast<std::size_t>(rank))));
}

Bootstrap ForkBootstrap::join(int rank) {
  Bootstrap mine = take(rank);
  leave();
  return mine;
}

}  // namespace huddle::team
