// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The rendezvous of path_bootstrap(): rank 0 listens at an abstract socket, and the others connect.
#include "runtime/team/socket_bootstrap.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/unix_socket.h"
#include "runtime/team/bootstrap.h"

namespace huddle::team {
namespace {

// Time that the other ranks wait for the answer of rank 0 in addition to rank 0's own limit, so
// that they receive its report of a missing rank.
constexpr std::chrono::seconds grace{2};

// The first message of a rank that connects to rank 0.
struct Hello {
  std::uint64_t magic = expected_magic;
  std::int32_t rank = 0;
  std::int32_t ranks = 0;

  static constexpr std::uint64_t expected_magic = 0x0001746565'6D646875;  // "hudmeet", version 1
};

struct PeerConnection {
  Hello hello;
  FileDescriptor socket;
};

// Returns the abstract socket name for a path. The length of a name is limited, so the name
// contains a 64-bit FNV-1a hash of the path. If the paths of two jobs have the same hash, check()
// reports an error.
std::string meeting_name(const std::string& path) {
  std::error_code ignored;
  std::string whole = std::filesystem::weakly_canonical(path, ignored).string();
  if (whole.empty()) whole = path;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : whole) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return fmt::format("huddle-{}-{:016x}", geteuid(), hash);
}

FileDescriptor new_socket() {
  FileDescriptor socket_here(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_here.is_open()) return above_standard_streams(std::move(socket_here));
  throw FailureError(
      fmt::format("cannot create a socket: {}; raise `ulimit -n` if descriptors are exhausted",
                  std::strerror(errno)));
}

class PathRendezvous {
 public:
  PathRendezvous(const std::string& path, int ranks, std::chrono::milliseconds limit)
      : path_(path),
        ranks_(ranks),
        limit_(limit),
        deadline_(Clock::now() + limit),
        address_(meeting_name(path)) {}

  // Returns a listening socket, or a closed descriptor if another process already listens.
  FileDescriptor try_host() {
    FileDescriptor socket = new_socket();
    if (bind(socket.number(), address_.generic(), address_.length) == 0 &&
        listen(socket.number(), ranks_) == 0) {
      return socket;
    }
    if (errno == EADDRINUSE) return {};
    throw FailureError(
        fmt::format("cannot listen for the other ranks at {}: {}", path_, std::strerror(errno)));
  }

  HubSockets host(FileDescriptor socket) {
    std::vector<PeerConnection> connections;
    const RankError rank_error = RankError::of([&] {
      while (connections.size() + 1 < static_cast<std::size_t>(ranks_))
        accept_one(socket, connections);
      check(connections);
    });
    // Stops listening before it answers, so that a rank that connects again at once waits for the
    // next rendezvous.
    socket = FileDescriptor();
    HubSockets sockets(static_cast<std::size_t>(ranks_));
    for (PeerConnection& connection : connections) {
      // A rank that cannot be sent the result has died; the first allgather detects that.
      static_cast<void>(RankError::of([&] {
        send_all(connection.socket, std::as_bytes(std::span(&rank_error, 1)), deadline_);
      }));
      if (!rank_error.is_any()) {
        sockets[static_cast<std::size_t>(connection.hello.rank)] = std::move(connection.socket);
      }
    }
    if (rank_error.is_any()) throw FailureError(std::string(rank_error.text()));
    return sockets;
  }

  HubSockets visit(int rank) {
    FileDescriptor socket = connect_in_time();
    if (!peer_of_same_user(socket)) {
      throw FailureError(
          fmt::format("another user already uses the path {}; choose another path", path_));
    }
    RankError answer;
    const Hello hello{Hello::expected_magic, rank, ranks_};
    // Rank 0 may have arrived just now, and waits up to `limit_` for the other ranks.
    const Deadline deadline = Clock::now() + limit_ + grace;
    const RankError talk = RankError::of([&] {
      send_all(socket, std::as_bytes(std::span(&hello, 1)), deadline);
      receive_all(socket, std::as_writable_bytes(std::span(&answer, 1)), deadline);
    });
    if (talk.is_any()) {
      throw FailureError(
          fmt::format("connected to rank 0 at {}, then failed: {}", path_, talk.text()));
    }
    if (answer.is_any()) throw FailureError(std::string(answer.text()));
    HubSockets sockets;
    sockets.push_back(std::move(socket));
    return sockets;
  }

 private:
  // Returns whether a connection is pending. Throws FailureError if a connected rank has died or
  // left, because the others would then wait in vain. Connected ranks send nothing while they wait,
  // so any event on their sockets shows that.
  bool is_peer_connecting(const FileDescriptor& socket,
                          const std::vector<PeerConnection>& connections) const {
    std::vector<pollfd> watched{{socket.number(), POLLIN, 0}};
    for (const PeerConnection& connection : connections)
      watched.push_back({connection.socket.number(), POLLIN, 0});
    const int timeout_ms = poll_timeout_ms(deadline_);
    if (timeout_ms == 0) throw FailureError(missing_ranks(connections));
    if (poll(watched.data(), watched.size(), timeout_ms) <= 0) return false;
    for (std::size_t i = 0; i < connections.size(); ++i) {
      if (watched[i + 1].revents == 0) continue;
      throw FailureError(
          fmt::format("rank {} connected at {} and ended before the other ranks connected; see its "
                      "output for the reason",
                      connections[i].hello.rank, path_));
    }
    return true;
  }

  void accept_one(const FileDescriptor& socket, std::vector<PeerConnection>& connections) {
    if (!is_peer_connecting(socket, connections)) return;
    PeerConnection connection{
        {},
        above_standard_streams(FileDescriptor(
            accept4(socket.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)))};
    if (!connection.socket.is_open()) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
      throw FailureError(fmt::format("cannot accept connections of other ranks at {}: {}", path_,
                                     std::strerror(errno)));
    }
    if (!peer_of_same_user(connection.socket)) return;
    // A process that dies before it sends its hello does not count as having arrived.
    const RankError silent = RankError::of([&] {
      receive_all(connection.socket, std::as_writable_bytes(std::span(&connection.hello, 1)),
                  deadline_);
    });
    if (silent.is_any() || connection.hello.magic != Hello::expected_magic) return;
    connections.push_back(std::move(connection));
  }

  void check(const std::vector<PeerConnection>& connections) const {
    std::vector<bool> here(static_cast<std::size_t>(ranks_), false);
    here[0] = true;
    for (const PeerConnection& connection : connections) {
      const auto [magic, rank, ranks] = connection.hello;
      if (ranks != ranks_) {
        throw FailureError(
            fmt::format("at {}, rank {} was started for {} ranks, but rank 0 for {}; pass the same "
                        "number on all ranks",
                        path_, rank, ranks, ranks_));
      }
      if (rank < 0 || rank >= ranks_) {
        throw FailureError(
            fmt::format("at {}, a process connected as rank {}, but there are only {} ranks; ranks "
                        "count from 0",
                        path_, rank, ranks_));
      }
      if (here[static_cast<std::size_t>(rank)]) {
        throw FailureError(fmt::format(
            "at {}, two processes connected as rank {}; give each process a rank of its own", path_,
            rank));
      }
      here[static_cast<std::size_t>(rank)] = true;
    }
  }

  std::string missing_ranks(const std::vector<PeerConnection>& connections) const {
    std::vector<int> missing;
    for (int rank = 1; rank < ranks_; ++rank) {
      if (std::none_of(
              connections.begin(), connections.end(),
              [&](const PeerConnection& connection) { return connection.hello.rank == rank; })) {
        missing.push_back(rank);
      }
    }
    return fmt::format(
        "{} of {} ranks connected at {} within the time limit; the first missing one is rank {}: "
        "check that it runs, or raise the limit",
        connections.size() + 1, ranks_, path_, missing.empty() ? 0 : missing.front());
  }

  FileDescriptor connect_in_time() {
    // Retries with growing pauses, up to a limit that keeps the latency low, until rank 0 listens.
    int pause_ms = 1;
    constexpr int longest_pause_ms = 20;
    while (true) {
      FileDescriptor socket = new_socket();
      if (connect(socket.number(), address_.generic(), address_.length) == 0) return socket;
      if (errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) {
        throw FailureError(
            fmt::format("cannot connect to rank 0 at {}: {}", path_, std::strerror(errno)));
      }
      const int left_ms = poll_timeout_ms(deadline_);
      if (left_ms == 0) {
        throw FailureError(
            fmt::format("rank 0 did not listen at {} within the time limit; check that it runs, or "
                        "raise the limit",
                        path_));
      }
      poll(nullptr, 0, std::min(pause_ms, left_ms));
      pause_ms = std::min(2 * pause_ms, longest_pause_ms);
    }
  }

  std::string path_;
  int ranks_;
  std::chrono::milliseconds limit_;
  Deadline deadline_;  // for rank 0 to accept all ranks, or for another rank to connect
  AbstractAddress address_;
};

}  // namespace

Bootstrap path_bootstrap(const std::string& path, int rank, int ranks,
                         std::chrono::milliseconds limit) {
  PathRendezvous rendezvous(path, ranks, limit);
  HubSockets sockets;
  if (rank == 0) {
    FileDescriptor socket = rendezvous.try_host();
    // If another process already listens as rank 0, connecting to it makes it report the duplicate
    // rank to all ranks.
    sockets = socket.is_open() ? rendezvous.host(std::move(socket)) : rendezvous.visit(rank);
  } else {
    sockets = rendezvous.visit(rank);
  }
  return hub_bootstrap(rank, ranks, std::move(sockets));
}

}  // namespace huddle::team
