// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/unix_socket.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace huddle {
namespace {

constexpr std::size_t control_bytes =
    CMSG_SPACE(most_descriptors_per_message * sizeof(int)) + CMSG_SPACE(sizeof(ucred));

struct alignas(cmsghdr) Control {
  std::array<std::byte, control_bytes> bytes{};
};

void take_descriptors(const cmsghdr& part, ReceivedMessage& received) {
  const std::size_t count = (part.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  std::array<int, control_bytes / sizeof(int)> numbers{};
  std::memcpy(numbers.data(), CMSG_DATA(&part), count * sizeof(int));
  for (std::size_t i = 0; i < count; ++i) received.descriptors.emplace_back(numbers[i]);
}

}  // namespace

AbstractAddress::AbstractAddress(std::string_view name) {
  address.sun_family = AF_UNIX;
  // An abstract name starts after a zero byte.
  const std::size_t bytes = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(&address.sun_path[1], name.data(), bytes);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
}

std::optional<pid_t> peer_of_same_user(const FileDescriptor& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.uid != ::geteuid()) {
    return std::nullopt;
  }
  return peer.pid;
}

ssize_t send_message(const FileDescriptor& socket, std::span<const std::byte> bytes,
                     std::span<const int> descriptors, int flags, const AbstractAddress* to) {
  // Both const_casts are safe because sendmsg() does not modify the data or the address.
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
  Control control;
  msghdr header{};
  if (to != nullptr) {
    header.msg_name = const_cast<sockaddr*>(to->generic());
    header.msg_namelen = to->length;
  }
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.bytes.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(socket.number(), &header, flags | MSG_NOSIGNAL);
}

ReceivedMessage receive_message(const FileDescriptor& socket, std::span<std::byte> bytes,
                                int flags) {
  iovec data{bytes.data(), bytes.size()};
  Control control;
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  ReceivedMessage received;
  received.bytes = ::recvmsg(socket.number(), &header, flags | MSG_CMSG_CLOEXEC);
  if (received.bytes < 0) return received;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_RIGHTS) {
      take_descriptors(*part, received);
    } else if (part->cmsg_type == SCM_CREDENTIALS) {
      received.sender.emplace();
      std::memcpy(&*received.sender, CMSG_DATA(part), sizeof(ucred));
    }
  }
  return received;
}

}  // namespace huddle
